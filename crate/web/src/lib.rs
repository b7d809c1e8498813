//! What the page sees of the simulator: types converted and calls forwarded, nothing else.
//!
//! The same module runs on the main thread, which draws, and in the worker, which simulates.

use wasm_bindgen::prelude::wasm_bindgen;

/// Makes a panic readable in the browser's console. Runs by itself when the module is loaded.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}

/// The version of the model, a counter that grows with every change that alters results.
#[wasm_bindgen]
pub fn model_version() -> u32 {
    1
}
