//! On the main thread: what has been run, and a window seen closely.

use crate::{Picture, from_bytes, from_js, to_js};
use stallarium_charts::{figures, page};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The results on the screen.
#[wasm_bindgen]
#[derive(Default)]
pub struct Board(page::Board);

#[wasm_bindgen]
impl Board {
    /// Nothing yet.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks a setting up and shows it if it can be run; what it means, or what is wrong with it.
    pub fn set(&mut self, setting: JsValue) -> Result<JsValue, JsValue> {
        to_js(&self.0.set(&from_js(setting)?))
    }

    /// Keeps the result of a run.
    pub fn put(&mut self, key: &str, bytes: &[u8]) -> Result<(), String> {
        self.0.put(key, from_bytes(bytes)?);
        Ok(())
    }

    /// Whether there is a result.
    pub fn has(&self, key: &str) -> bool {
        self.0.has(key)
    }

    /// Drops every result that is not shown.
    pub fn forget_others(&mut self) {
        self.0.forget_others();
    }

    /// How much time a run covers, nanoseconds.
    pub fn elapsed_ns(&self, key: &str) -> Option<f64> {
        self.0.elapsed_ns(key).map(|ns| ns as f64)
    }

    /// Beginning and end of what the close-up of a run shows first, nanoseconds; empty without a result.
    pub fn first_window(&self, key: &str) -> Vec<f64> {
        let window = self.0.first_window(key);
        window.map_or(Vec::new(), |(start, end)| vec![start as f64, end as f64])
    }

    /// Label of the kernel that the close-up shows first.
    pub fn first_kernel(&self) -> Option<String> {
        self.0.first_kernel().map(str::to_owned)
    }

    /// The digest of everything shown; empty until every run is there.
    pub fn digest(&self) -> String {
        let digest = self.0.digest().map(stallarium_sim::report::Digest);
        digest.map_or(String::new(), |digest| digest.to_string())
    }

    /// Why the kernels that are shown differ: a list of sentences.
    pub fn explain(&self) -> Result<JsValue, JsValue> {
        to_js(&self.0.explain())
    }

    /// The kernels' counters at the end of their runs, line by line, in the layout of a difference; empty without memory.
    pub fn counters(&self) -> Vec<String> {
        self.0.counters()
    }

    /// What is shown beside what was published, in words; `null` without an experiment.
    pub fn judge(&self) -> Result<JsValue, JsValue> {
        to_js(&self.0.judge())
    }

    /// The chart of this name over what is shown.
    pub fn picture(&self, name: &str) -> Option<Picture> {
        self.0.figure(name).map(Picture::new)
    }
}

/// A window of one run in full detail.
#[wasm_bindgen]
pub struct Closeup(figures::Closeup);

#[wasm_bindgen]
impl Closeup {
    /// What a run's look gave.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8]) -> Result<Closeup, String> {
        from_bytes(bytes).map(Self)
    }

    /// The chart of this name.
    pub fn picture(&self, name: &str) -> Option<Picture> {
        self.0.figure(name).map(Picture::new)
    }

    /// Up to `most` events of the window, one line each.
    pub fn event_lines(&self, most: usize) -> Vec<String> {
        self.0.event_lines(most).0
    }

    /// How many events the window has.
    pub fn event_count(&self) -> usize {
        self.0.event_lines(0).1
    }

    /// What the reader should know about the window; empty for most.
    pub fn remark(&self) -> String {
        self.0.remark()
    }
}

/// The long run that decides whether the published claims hold.
#[wasm_bindgen]
pub struct Verdict(page::Verdict);

#[wasm_bindgen]
impl Verdict {
    /// The long run with the changes of a setting. Throws a sentence when the setting is wrong.
    #[wasm_bindgen(constructor)]
    pub fn new(setting: JsValue, seeds: u32) -> Result<Verdict, JsValue> {
        Ok(Self(page::Verdict::new(&from_js(setting)?, seeds)?))
    }

    /// Its runs: a list of `{ setting, kernel, limit_ns }`.
    pub fn tasks(&self) -> Result<JsValue, JsValue> {
        to_js(&self.0.tasks())
    }

    /// Keeps the result of a run.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.0.put(from_bytes(bytes)?);
        Ok(())
    }

    /// What the runs say, in words.
    pub fn judge(&self) -> Result<JsValue, JsValue> {
        to_js(&self.0.judge()?)
    }
}
