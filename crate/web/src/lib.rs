//! What the page sees of the simulator: types converted and calls forwarded, nothing else.
//!
//! The same module runs on the main thread, which draws (`board`), and in workers, which simulate (`run`). Plain objects
//! come in and go out through `serde`; results travel from worker to page as postcard bytes.

mod board;
mod picture;
mod run;

pub use board::{Board, Closeup, Verdict};
pub use picture::Picture;
pub use run::Run;

use serde::Serialize;
use serde::de::DeserializeOwned;
use stallarium_charts::page;
use stallarium_sim::text::{Scale, format_time as time_text, parse_quantity};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// Makes a panic readable in the browser's console. Runs by itself when the module is loaded.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}

/// The version of the model, a counter that grows with every change that alters results.
#[wasm_bindgen]
pub fn model_version() -> u32 {
    stallarium_sim::scenario::link::MODEL_VERSION
}

/// The words the page explains: a list of `{ name, definition, section }`.
#[wasm_bindgen]
pub fn terms() -> Result<JsValue, JsValue> {
    #[derive(Serialize)]
    struct Term {
        name: &'static str,
        definition: &'static str,
        section: &'static str,
    }
    let all = stallarium_sim::report::terms().iter();
    let terms = all.map(|term| Term { name: term.name, definition: term.definition, section: term.section });
    to_js(&terms.collect::<Vec<_>>())
}

/// Releases with their elevators and patches: the form for another kernel.
#[wasm_bindgen]
pub fn catalogue() -> Result<JsValue, JsValue> {
    to_js(&page::catalogue())
}

/// What the fragment of the page's address says.
#[wasm_bindgen]
pub fn open_link(fragment: &str) -> Result<JsValue, JsValue> {
    to_js(&page::open_link(fragment))
}

/// The fragment that carries a setting, what is looked at, and the digest that it gave (empty for none).
#[wasm_bindgen]
pub fn link(setting: JsValue, view: JsValue, digest: &str) -> Result<String, JsValue> {
    let digest = digest.parse::<stallarium_sim::report::Digest>().ok();
    Ok(page::share(&from_js(setting)?, &from_js(view)?, digest.map(|digest| digest.0)))
}

/// What to keep in mind when sharing a fragment; empty for most.
#[wasm_bindgen]
pub fn link_advice(fragment: &str) -> String {
    page::link_advice(fragment)
}

/// Nanoseconds as people write them.
#[wasm_bindgen]
pub fn format_time(time_ns: f64) -> String {
    time_text(time_ns as u64)
}

/// A time with its unit in nanoseconds. Throws what is wrong with it as a sentence.
#[wasm_bindgen]
pub fn parse_time(text: &str) -> Result<f64, String> {
    parse_quantity(text, Scale::Time).map(|ns| ns as f64).map_err(|clause| format!("\"{text}\": {clause}."))
}

fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    Ok(value.serialize(&serde_wasm_bindgen::Serializer::json_compatible())?)
}

fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, JsValue> {
    Ok(serde_wasm_bindgen::from_value(value)?)
}

/// Postcard bytes that the module's twin in another thread has written.
fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    postcard::from_bytes(bytes).map_err(|error| format!("The results cannot be read: {error}."))
}

fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>, String> {
    postcard::to_allocvec(value).map_err(|error| format!("The results cannot be sent: {error}."))
}
