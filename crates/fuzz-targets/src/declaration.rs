//! Declaration of targets.

use arbitrary::{Arbitrary, Unstructured};

/// Declares the module and the function of each target.
macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*

        $(
            /// Runs the target of this name on the bytes of an input.
            pub fn $name(bytes: &[u8]) {
                declaration::given($name::run, bytes);
            }
        )*
    };
}

/// Builds a value from the bytes, as libFuzzer does for targets whose input is not plain bytes, and
/// passes it on. Does nothing if there are too few bytes.
pub(crate) fn given<'a, T: Arbitrary<'a>>(run: impl FnOnce(T), bytes: &'a [u8]) {
    if bytes.len() >= T::size_hint(0).0
        && let Ok(input) = T::arbitrary_take_rest(Unstructured::new(bytes))
    {
        run(input);
    }
}
