//! Fitting words into the room there is.

use crate::pen::{Font, Ruler};

/// The text, or as much of its beginning as fits with an ellipsis; empty when not even that fits.
pub(crate) fn ellipsis(ruler: &dyn Ruler, text: &str, font: Font, room: f64) -> String {
    if ruler.width(text, font) <= room {
        return text.to_owned();
    }
    let ends: Vec<usize> = text.char_indices().map(|(index, _)| index).collect();
    let shortened = |letters: usize| {
        let end = ends.get(letters).copied().unwrap_or(text.len());
        format!("{}…", text[..end].trim_end())
    };
    // The longest that fits, by halving.
    let (mut fits, mut too_long) = (0, ends.len());
    while fits + 1 < too_long {
        let middle = fits.midpoint(too_long);
        if ruler.width(&shortened(middle), font) <= room {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    if fits == 0 { String::new() } else { shortened(fits) }
}

/// Longer texts are not looked at to their end: nobody reads so much above a picture.
const MOST_LETTERS: usize = 2_000;

/// The text in at most `most` lines, broken between words; the last line is shortened when it must be.
pub(crate) fn wrap(ruler: &dyn Ruler, text: &str, font: Font, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let text: String = text.chars().take(MOST_LETTERS).collect();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) => {
                let longer = format!("{line} {word}");
                // Words beyond the last line all go on it, to be cut off there.
                if lines.len() == most || ruler.width(&longer, font) <= room {
                    *lines.last_mut().unwrap_or(&mut String::new()) = longer;
                } else {
                    lines.push(word.to_owned());
                }
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines.into_iter().take(most).map(|line| ellipsis(ruler, &line, font, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::InterRuler;
    use proptest::prelude::*;

    const FONT: Font = Font { px: 12.0, bold: false };

    #[test]
    fn short_texts_are_left_alone() {
        assert_eq!(ellipsis(&InterRuler, "deadline", FONT, 100.0), "deadline");
        assert_eq!(ellipsis(&InterRuler, "deadline", FONT, 3.0), "");
        assert_eq!(wrap(&InterRuler, "", FONT, 100.0, 2), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_its_room(text in "[a-zäµ ]{0,80}", room in 0.0f64..300.0, most in 1usize..4) {
            prop_assert!(InterRuler.width(&ellipsis(&InterRuler, &text, FONT, room), FONT) <= room);
            let lines = wrap(&InterRuler, &text, FONT, room, most);
            prop_assert!(lines.len() <= most);
            for line in lines {
                prop_assert!(InterRuler.width(&line, FONT) <= room);
            }
        }

        /// As much as fits: one letter more would not.
        #[test]
        fn no_letter_is_cut_without_need(text in "[a-z]{1,60}", room in 20.0f64..300.0) {
            let short = ellipsis(&InterRuler, &text, FONT, room);
            if let Some(kept) = short.strip_suffix('…') {
                let longer = format!("{}…", &text[..kept.len() + 1]);
                prop_assert!(InterRuler.width(&longer, FONT) > room);
            }
        }

        #[test]
        fn wrapping_loses_no_word_where_there_is_room(words in proptest::collection::vec("[a-z]{1,8}", 0..12)) {
            let text = words.join(" ");
            let lines = wrap(&InterRuler, &text, FONT, 90.0, 100);
            prop_assert_eq!(lines.join(" "), text);
        }
    }
}
