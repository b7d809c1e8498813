//! Structs whose fields a text sets by name.
//!
//! A struct lists its fields with [`slots!`](crate::slots), and gets what serde's derive would give, names with hyphens and numbers
//! that fit, in a fiftieth of the page's wasm: nothing is generated for each pair of struct and format.

/// Access to one field.
#[derive(Debug)]
pub enum Slot<'a> {
    /// true or false.
    Boolean(&'a mut bool),
    /// A number of 32 bits.
    Small(&'a mut u32),
    /// A number of 64 bits.
    Large(&'a mut u64),
    /// One of several names.
    Name(&'a mut dyn Choice),
    /// A table of fields.
    Table(Vec<(String, Slot<'a>)>),
}

/// An enum whose variants have names in texts.
pub trait Choice: std::fmt::Debug {
    /// The names.
    fn names(&self) -> &'static [&'static str];
    /// Becomes the variant of this name; false when there is none.
    fn choose(&mut self, name: &str) -> bool;
}

/// A struct whose fields a text sets.
pub trait Slots {
    /// Every field by its name in texts, in the order of the struct.
    fn slots(&mut self) -> Vec<(String, Slot<'_>)>;
}

impl<'a> From<&'a mut bool> for Slot<'a> {
    fn from(value: &'a mut bool) -> Self {
        Self::Boolean(value)
    }
}

impl<'a> From<&'a mut u32> for Slot<'a> {
    fn from(value: &'a mut u32) -> Self {
        Self::Small(value)
    }
}

impl<'a> From<&'a mut u64> for Slot<'a> {
    fn from(value: &'a mut u64) -> Self {
        Self::Large(value)
    }
}

impl<'a, T: Choice> From<&'a mut T> for Slot<'a> {
    fn from(value: &'a mut T) -> Self {
        Self::Name(value)
    }
}

/// Lists the fields of a struct for [`Slots`]. One that is left out does not compile.
#[macro_export]
#[doc(hidden)]
macro_rules! slots {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl $crate::text::Slots for $type {
            fn slots(&mut self) -> Vec<(String, $crate::text::Slot<'_>)> {
                let Self { $($field),* } = self;
                let fields = [$((stringify!($field), $crate::text::Slot::from($field))),*];
                fields.into_iter().map(|(name, slot)| (name.replace('_', "-"), slot)).collect()
            }
        }
    };
}
