//! Colours of themes, and the parameters with which a terminal shows them. Pure.

use pollux_input::ColourDepth;

/// Maximum length of the name of a colour, in bytes.
const LONGEST: usize = 64;

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// One of the sixteen colours of the terminal.
    Ansi(u8),
    /// Red, green and blue.
    Rgb([u8; 3]),
}

/// The sixteen colours of a terminal, in their order, as themes name them.
const ANSI_NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "white",
    "gray",
    "redbright",
    "greenbright",
    "yellowbright",
    "bluebright",
    "magentabright",
    "cyanbright",
    "whitebright",
];

/// Steps of the six intensities in the colour cube of 256 colours.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Colour {
    /// Returns the colour with a name: `#abc`, `#aabbcc`, a colour of the terminal, or a name of
    /// CSS.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let name = name.trim();
        if name.len() > LONGEST {
            return None;
        }
        if let Some(digits) = name.strip_prefix('#') {
            let is_hex = matches!(digits.len(), 3 | 6)
                && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let colour = csscolorparser::parse(name).ok().filter(|_| is_hex)?;
            let [red, green, blue, _] = colour.to_rgba8();
            return Some(Self::Rgb([red, green, blue]));
        }
        let lower = name.to_ascii_lowercase();
        let ansi = match lower.as_str() {
            "grey" | "blackbright" => "gray",
            name => name,
        };
        if let Some(index) = ANSI_NAMES.iter().position(|known| *known == ansi) {
            return u8::try_from(index).ok().map(Self::Ansi);
        }
        let named = csscolorparser::NAMED_COLORS.get(lower.as_str().into());
        named.copied().map(Self::Rgb)
    }

    /// Returns the parameters of the SGR sequence for a text in this colour.
    pub(crate) fn foreground(self, depth: ColourDepth) -> String {
        self.parameters(depth, 30)
    }

    /// Returns the parameters of the SGR sequence for a background in this colour.
    pub(crate) fn background(self, depth: ColourDepth) -> String {
        self.parameters(depth, 40)
    }

    /// Returns the parameters; `base` is 30 for the text and 40 for the background.
    fn parameters(self, depth: ColourDepth, base: u8) -> String {
        match (self, depth) {
            (Self::Rgb([red, green, blue]), ColourDepth::True) => {
                format!("{};2;{red};{green};{blue}", base + 8)
            }
            (Self::Rgb(rgb), ColourDepth::Indexed) => format!("{};5;{}", base + 8, indexed(rgb)),
            (Self::Rgb(rgb), ColourDepth::Sixteen) => sixteen(nearest_ansi(rgb), base),
            (Self::Ansi(index), _) => sixteen(index, base),
        }
    }

    /// Returns the relative luminance, from 0 to 1 (WCAG); `None` for a colour that the user has
    /// chosen in the terminal.
    pub(crate) fn luminance(self) -> Option<f32> {
        let Self::Rgb(rgb) = self else { return None };
        let linear = |part: u8| {
            let part = f32::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = rgb.map(linear);
        Some(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    }

    /// Returns the contrast between two colours, from 1 to 21 (WCAG); `None` if one of them is not
    /// known.
    pub(crate) fn contrast(self, other: Self) -> Option<f32> {
        let (one, two) = (self.luminance()?, other.luminance()?);
        Some((one.max(two) + 0.05) / (one.min(two) + 0.05))
    }
}

/// Returns the parameter for one of the sixteen colours.
fn sixteen(index: u8, base: u8) -> String {
    (if index < 8 { base + index } else { base + 60 + index - 8 }).to_string()
}

/// Returns the nearest of the 240 fixed colours of a terminal with 256 colours.
fn indexed(rgb: [u8; 3]) -> u8 {
    let step = |part: u8| nearest(&CUBE, part);
    let [red, green, blue] = rgb.map(step);
    let cube = [red, green, blue].map(|step| CUBE[usize::from(step)]);
    // The greys are 8, 18, ... 238.
    let mean = rgb.iter().map(|part| u16::from(*part)).sum::<u16>() / 3;
    let grey = u8::try_from(mean.saturating_sub(3) / 10).unwrap_or(u8::MAX).min(23);
    if distance(rgb, [8 + 10 * grey; 3]) < distance(rgb, cube) {
        return 232 + grey;
    }
    16 + 36 * red + 6 * green + blue
}

/// Returns the index of the nearest value.
fn nearest(values: &[u8], value: u8) -> u8 {
    let indexes = 0..u8::try_from(values.len()).unwrap_or(u8::MAX);
    let nearest = indexes.min_by_key(|index| values[usize::from(*index)].abs_diff(value));
    nearest.unwrap_or_default()
}

/// Returns the one of the sixteen colours that has the same hue. Their brightness is the user's
/// choice, so that they are legible on the background.
fn nearest_ansi([red, green, blue]: [u8; 3]) -> u8 {
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    if u16::from(most - least) * 20 < u16::from(most) {
        // A grey.
        return 8;
    }
    let is_high = |part: u8| u8::from(part - least > (most - least) / 2);
    is_high(red) + 2 * is_high(green) + 4 * is_high(blue)
}

fn distance(one: [u8; 3], two: [u8; 3]) -> u32 {
    let parts = one.iter().zip(two);
    parts.map(|(one, two)| u32::from(one.abs_diff(two)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn colours_have_names() {
        for (name, expected) in [
            ("#abc", Some(Colour::Rgb([0xaa, 0xbb, 0xcc]))),
            ("#A0b1C2", Some(Colour::Rgb([0xa0, 0xb1, 0xc2]))),
            ("red", Some(Colour::Ansi(1))),
            ("Grey", Some(Colour::Ansi(8))),
            ("BlueBright", Some(Colour::Ansi(12))),
            ("coral", Some(Colour::Rgb([255, 127, 80]))),
            ("RebeccaPurple", Some(Colour::Rgb([0x66, 0x33, 0x99]))),
            ("abc", None),
            ("#abcd", None),
            ("#12345678", None),
            ("#+1+2+3", None),
            ("rgb(1, 2, 3)", None),
            ("#\u{e9}\u{e9}\u{e9}", None),
            ("\u{1b}[31m", None),
            ("", None),
        ] {
            assert_eq!(Colour::parse(name), expected, "{name}");
        }
        assert_eq!(Colour::parse(&"a".repeat(1 << 20)), None);
    }

    #[test]
    fn every_terminal_has_a_similar_colour() {
        let colour = |name| Colour::parse(name).unwrap();
        for (name, all, indexed, sixteen) in [
            ("#ff8700", "38;2;255;135;0", "38;5;208", "33"),
            ("#ff0000", "38;2;255;0;0", "38;5;196", "31"),
            ("#87afff", "38;2;135;175;255", "38;5;111", "34"),
            ("#6272a4", "38;2;98;114;164", "38;5;61", "34"),
            ("#808080", "38;2;128;128;128", "38;5;244", "90"),
            ("#ffffff", "38;2;255;255;255", "38;5;231", "90"),
            ("#50fa7b", "38;2;80;250;123", "38;5;84", "32"),
            ("cyan", "36", "36", "36"),
            ("redbright", "91", "91", "91"),
        ] {
            let shown = |depth| colour(name).foreground(depth);
            assert_eq!(shown(ColourDepth::True), all, "{name}");
            assert_eq!(shown(ColourDepth::Indexed), indexed, "{name}");
            assert_eq!(shown(ColourDepth::Sixteen), sixteen, "{name}");
        }
        assert_eq!(colour("#ff0000").background(ColourDepth::True), "48;2;255;0;0");
        assert_eq!(colour("redbright").background(ColourDepth::True), "101");
    }

    #[test]
    fn contrast_is_that_of_the_guidelines() {
        let colour = |name| Colour::parse(name).unwrap();
        let contrast = colour("#000").contrast(colour("#fff")).unwrap();
        assert!((contrast - 21.0).abs() < 0.01, "{contrast}");
        let contrast = colour("#777").contrast(colour("#fff")).unwrap();
        assert!((contrast - 4.48).abs() < 0.01, "{contrast}");
        assert_eq!(colour("red").contrast(colour("#fff")), None);
    }
}
