//! Taking charts away: their numbers as CSV, and a link inside a PNG.

use crate::describe::{Chart, Figure};
use crate::table::numbers;

/// Every number of the figure, one row each, with headings: what a spreadsheet can draw again.
#[must_use]
pub fn csv(figure: &Figure) -> String {
    let mut out = Rows::default();
    match &figure.chart {
        chart @ (Chart::Bars(_) | Chart::Stacked(_) | Chart::Histogram(_)) => {
            let table = numbers(chart, false);
            out.row(table.headings);
            table.rows.into_iter().for_each(|row| out.row(row));
        }
        Chart::Lines(chart) => {
            out.row(["line", "time_ns", "least", "greatest", "value"]);
            for series in &chart.series {
                for bucket in &series.buckets {
                    let numbers = [bucket.min, bucket.max, bucket.last].map(|number| number.to_string());
                    out.row([series.label.clone(), bucket.at_ns.to_string()].into_iter().chain(numbers));
                }
            }
        }
        Chart::Dots(chart) => {
            out.row(["series", "time_ns", "value", "kind"]);
            for series in &chart.series {
                for dot in &series.dots {
                    let kind = chart.kinds.get(dot.kind).map_or("", |kind| kind.label.as_str());
                    out.row([series.label.as_str(), &dot.at_ns.to_string(), &dot.value.to_string(), kind]);
                }
            }
        }
        Chart::Lanes(chart) => {
            out.row(["lane", "from_ns", "to_ns", "what", if chart.is_shared { "share" } else { "label" }]);
            for lane in &chart.lanes {
                for interval in &lane.intervals {
                    let what = chart
                        .categories
                        .get(interval.category)
                        .map_or("", |category| category.label.as_str());
                    let (from, to) = (interval.start_ns.to_string(), interval.end_ns.to_string());
                    let share = if chart.is_shared { interval.share().to_string() } else { String::new() };
                    out.row([
                        lane.label.as_str(),
                        &from,
                        &to,
                        what,
                        interval.label.as_deref().unwrap_or(&share),
                    ]);
                }
                for event in &lane.events {
                    let what = chart.kinds.get(event.kind).map_or("", |kind| kind.label.as_str());
                    let at = event.at_ns.to_string();
                    out.row([lane.label.as_str(), &at, &at, what, event.label.as_deref().unwrap_or("")]);
                }
            }
        }
    }
    out.text
}

/// Rows of quoted cells (RFC 4180).
#[derive(Default)]
struct Rows {
    text: String,
}

impl Rows {
    fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        for (index, cell) in cells.into_iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            let cell = cell.as_ref();
            if cell.contains([',', '"', '\r', '\n']) {
                self.text.push('"');
                self.text.push_str(&cell.replace('"', "\"\""));
                self.text.push('"');
            } else {
                self.text.push_str(cell);
            }
        }
        self.text.push_str("\r\n");
    }
}

/// Where a PNG's chunks begin.
const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];
/// The first chunk, the header, is of this length with its length, name and checksum.
const HEADER_BYTES: usize = 25;

/// A PNG with one more text chunk, `Source`, that holds a link. What is no PNG comes back as it is.
#[must_use]
pub fn png_with_link(png: &[u8], link: &str) -> Vec<u8> {
    let place = SIGNATURE.len() + HEADER_BYTES;
    let (Some(before), Some(after)) = (png.get(..place), png.get(place..)) else { return png.to_vec() };
    if !before.starts_with(&SIGNATURE) {
        return png.to_vec();
    }
    let mut named = b"tEXtSource\0".to_vec();
    // The chunk's text is Latin-1; a link is plain ASCII.
    named.extend(link.bytes().filter(u8::is_ascii));
    let mut out = before.to_vec();
    let length = u32::try_from(named.len() - 4).unwrap_or(0);
    out.extend(length.to_be_bytes());
    out.extend(&named);
    out.extend(crc32(&named).to_be_bytes());
    out.extend(after);
    out
}

/// The checksum of PNG chunks, bit by bit: links are short.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::{Axis, Bar, BarSeries, Bars, Unit};

    /// The check value that the CRC's definition gives for "123456789".
    #[test]
    fn the_checksum_is_the_one_of_png() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    /// The link stands in a chunk of its own behind the header, whole, and the rest is untouched.
    #[test]
    fn a_png_carries_its_link() {
        let mut png = SIGNATURE.to_vec();
        png.extend([0; HEADER_BYTES]);
        png.extend(b"rest");
        let out = png_with_link(&png, "https://example.org/#1t.seed=7");
        assert!(out.starts_with(&png[..33]) && out.ends_with(b"rest"));
        let text = out.windows(11).position(|window| window == b"tEXtSource\0").expect("a chunk");
        assert!(out[text..].starts_with(b"tEXtSource\0https://example.org/#1t.seed=7"));
        assert_eq!(png_with_link(b"no picture", "x"), b"no picture");
    }

    /// Cells that hold separators or quotes are quoted, so that a row keeps its number of cells.
    #[test]
    fn rows_are_quoted() {
        let mut series = BarSeries::slot("a \"good\", one", 0);
        series.bars = vec![Some(Bar::new(1.5).reference(2.0))];
        let bars = Bars {
            axis: Axis::new("", Unit::Count),
            groups: vec!["x".into()],
            series: vec![series],
            reference: String::new(),
        };
        let text = csv(&Figure::new("", bars));
        assert_eq!(text.lines().nth(1), Some("x,\"a \"\"good\"\", one\",1.5,,,2"));
    }
}
