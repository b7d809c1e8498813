//! In a worker: one run.

use crate::{from_js, to_bytes};
use stallarium_charts::page::{PageRun, Setting};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// A run of one kernel of a setting.
#[wasm_bindgen]
pub struct Run(PageRun);

#[wasm_bindgen]
impl Run {
    /// A run at its beginning. Throws a sentence when the setting is wrong. With `keep`, [`Run::look`] works.
    #[wasm_bindgen(constructor)]
    pub fn new(setting: JsValue, kernel: &str, keep: bool) -> Result<Run, JsValue> {
        let setting: Setting = from_js(setting)?;
        Ok(Self(PageRun::new(&setting, kernel, keep)?))
    }

    /// Goes on for about so many events; whether the run has ended.
    pub fn advance(&mut self, events: u32) -> bool {
        self.0.advance(events.into())
    }

    /// Simulated time so far, nanoseconds.
    pub fn now_ns(&self) -> f64 {
        self.0.now_ns() as f64
    }

    /// Where it ends at the latest, nanoseconds.
    pub fn limit_ns(&self) -> f64 {
        self.0.limit_ns() as f64
    }

    /// What there is to say so far, for a board.
    pub fn result(&self) -> Result<Vec<u8>, String> {
        to_bytes(&self.0.result())
    }

    /// A window in full detail, for a close-up. Throws a sentence when it cannot be shown.
    pub fn look(&self, start_ns: f64, end_ns: f64) -> Result<Vec<u8>, String> {
        to_bytes(&self.0.look(start_ns as u64, end_ns as u64)?)
    }
}
