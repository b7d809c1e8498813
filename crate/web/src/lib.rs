//! The skin of the page.
