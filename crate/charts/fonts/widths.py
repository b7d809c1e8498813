"""Writes src/surface/widths.rs from the two fonts beside this file (needs fonttools)."""
import pathlib
from fontTools.ttLib import TTFont

here = pathlib.Path(__file__).parent
fonts = [TTFont(here / f"Inter-{weight}.subset.otf") for weight in ("Regular", "SemiBold")]
maps = [font.getBestCmap() for font in fonts]
rows = []
for character in sorted(maps[0]):
    widths = [round(f["hmtx"][m[character]][0] * 1000 / f["head"].unitsPerEm) for f, m in zip(fonts, maps)]
    rows.append("    ('\\u{%X}', %d, %d),\n" % (character, *widths))
(here.parent / "src/surface/widths.rs").write_text(
    "//! Advance widths of the fonts in `fonts/`, thousandths of an em. Written by `fonts/widths.py`; a test compares\n"
    "//! them with the fonts.\n\n"
    "/// `(character, regular, semibold)`, ascending by character.\n"
    "#[rustfmt::skip]\n"
    "pub(crate) const WIDTHS: &[(char, u16, u16)] = &[\n" + "".join(rows) + "];\n"
)
