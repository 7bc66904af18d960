//! The list of models, with their limits and prices. Pure.

use pollux_input::{KeyPress, ListAnswer, ListRequest};
use pollux_protocol::plain_text::{for_terminal, one_line};
use pollux_protocol::{Abilities, ListingOrigin, ModelListing, Money, Rates};

use super::PickerStep;
use super::layout::{AROUND, layout, mark, room};
use super::list::SearchList;
use crate::fold::{Breaks, Room, cut_to, fold};
use crate::row::{Look, Row};
use crate::surface::Frame;

/// Title of the list, as in Gemini CLI.
const TITLE: &str = "Select Model";
/// Maximum number of models that are shown at a time.
const SHOWN: usize = 12;
/// Maximum number of rows about the selected model.
const DETAILS: usize = 4;
/// Name that lets Pollux choose a model for each request.
const AUTO: &str = "auto";
/// Width from which on a row has the length of the context, and that from which on also prices.
const WITH_CONTEXT: usize = 40;
const WITH_PRICES: usize = 60;

/// The list of models.
pub(crate) struct ModelPicker {
    /// Model that the user requested: a name, an alias or `auto`.
    requested: String,
    /// Model of the last request.
    last: String,
    /// Index of the entry that is in use; `None` if the list does not contain it.
    current: Option<usize>,
    models: Vec<ModelListing>,
    /// The entries are `auto`, and then the models.
    list: SearchList,
    is_read: bool,
    request: Option<ListRequest>,
    /// True if the choice is saved for later sessions.
    is_saved: bool,
    remark: Option<String>,
}

impl ModelPicker {
    /// Creates a list that is still to be read. `last` is the model of the last request.
    pub(crate) fn new(requested: &str, last: &str) -> Self {
        Self {
            requested: requested.to_owned(),
            last: last.to_owned(),
            current: (requested == AUTO).then_some(0),
            models: Vec::new(),
            list: SearchList::new(std::iter::once(AUTO.to_owned()), 0),
            is_read: false,
            request: Some(ListRequest::Models),
            is_saved: false,
            remark: None,
        }
    }

    /// Returns what the list needs next.
    pub(crate) fn wanted(&mut self) -> Option<ListRequest> {
        self.request.take()
    }

    /// Takes the answer to a request.
    pub(crate) fn take(&mut self, answer: Result<ListAnswer, String>) {
        self.is_read = true;
        match answer {
            Ok(ListAnswer::Models(models)) => {
                self.models = models;
                let place = |name: &str| self.models.iter().position(|model| model.name == name);
                if self.requested != AUTO {
                    let place = place(&self.requested).or_else(|| place(&self.last));
                    self.current = place.map(|place| place + 1);
                }
                let models = self.models.iter();
                let texts = models.map(|model| format!("{} {}", model.name, model.vendor));
                self.list.replace(
                    std::iter::once(AUTO.to_owned()).chain(texts),
                    self.current.unwrap_or(0),
                );
            }
            Ok(_) => {}
            Err(message) => self.remark = Some(message),
        }
    }

    /// Returns the model at an index; `None` for `auto`.
    fn model(&self, index: usize) -> Option<&ModelListing> {
        self.models.get(index.checked_sub(1)?)
    }

    /// Applies a key.
    pub(crate) fn press(&mut self, key: KeyPress) -> PickerStep {
        self.remark = None;
        match key {
            KeyPress::Escape => return PickerStep::Close,
            KeyPress::Tab | KeyPress::CycleMode => self.is_saved = !self.is_saved,
            KeyPress::Enter => {
                let Some(index) = self.list.selected() else { return PickerStep::Open };
                let name = self.model(index).map_or(AUTO, |model| model.name.as_str());
                if name.is_empty() || name.contains(char::is_whitespace) || name.starts_with('-') {
                    self.remark = Some("This name cannot be requested.".to_owned());
                    return PickerStep::Open;
                }
                let flag = if self.is_saved { " --persist" } else { "" };
                return PickerStep::Run(format!("/model set {name}{flag}"));
            }
            key => self.list.press(key),
        }
        PickerStep::Open
    }

    /// Returns the rows, at most `height`.
    pub(crate) fn frame(&self, cells: usize, height: usize) -> Frame {
        let details = self.details(cells);
        let details = &details[..details.len().min(height.saturating_sub(AROUND + 4))];
        let has_headings = cells >= WITH_CONTEXT && height > AROUND + 3;
        let taken = details.len() + usize::from(has_headings);
        let room = room(height).saturating_sub(taken).min(SHOWN);
        let mut rows: Vec<Row> = Vec::new();
        if has_headings {
            let columns = columns(cells, ["CONTEXT", "$ IN", "$ OUT"].map(str::to_owned));
            rows.push(Row::new(Look::Dim, line("", "  NAME", &columns, cells)));
        }
        let shown = self.list.shown(room);
        rows.extend(shown.map(|(index, is_selected)| self.row(index, is_selected, cells)));
        if self.list.count().0 == 0 {
            rows.push(Row::new(Look::Dim, "No model contains these words."));
        }
        rows.extend(details.iter().cloned());
        layout(TITLE, &self.list, rows, self.hint(), (cells, height))
    }

    fn hint(&self) -> Row {
        if let Some(remark) = &self.remark {
            return Row::new(Look::Yellow, one_line(&for_terminal(remark)));
        }
        if !self.is_read {
            return Row::new(Look::Dim, "Reading the models ...");
        }
        let (count, place) = self.list.count();
        let saved = self.is_saved;
        let hint =
            format!("Enter selects · Tab: Remember model for future sessions: {saved} · Esc");
        Row::new(Look::Dim, format!("{place} of {count} · {hint}"))
    }

    fn row(&self, index: usize, is_selected: bool, cells: usize) -> Row {
        let (mark, look) = mark(is_selected);
        let is_current = if self.current == Some(index) { "(current) " } else { "" };
        let Some(model) = self.model(index) else {
            let text = "chooses a model for each request";
            let row = Row::new(look, mark).with(look, &format!("{is_current}{AUTO}"));
            return row.with(Look::Dim, &format!("  {text}"));
        };
        let rate = |rate: fn(&Rates) -> u64| {
            model.price.map_or_else(|| "-".to_owned(), |price| dollars(rate(&price.rates)))
        };
        let texts = [tokens(model.limits.context), rate(|it| it.input), rate(|it| it.output)];
        let name = for_terminal(&model.name).into_owned();
        let columns = columns(cells, texts);
        let text = line(mark, &format!("{is_current}{}", one_line(&name)), &columns, cells);
        let (name, rest) = text.split_at(text.len() - columns.len());
        Row::new(look, name).with(Look::Dim, rest)
    }

    /// Returns the rows about the selected model.
    fn details(&self, cells: usize) -> Vec<Row> {
        let Some(model) = self.list.selected().and_then(|index| self.model(index)) else {
            return Vec::new();
        };
        let Abilities { tools, vision, max_output } = model.abilities;
        let mut facts = vec![model.vendor.clone()];
        facts.push(format!("{} tokens of context", tokens(model.limits.context)));
        facts.extend(max_output.map(|count| format!("answers up to {} tokens", tokens(count))));
        facts.extend(tools.map(|has| if has { "tools" } else { "tools in text" }.to_owned()));
        facts.extend(vision.map(|has| if has { "images" } else { "no images" }.to_owned()));
        match model.price {
            None => facts.push("price not known".to_owned()),
            Some(price) => {
                let words = |rates: &Rates| {
                    let [input, cached, output] =
                        [rates.input, rates.cached, rates.output].map(dollars);
                    format!("${input} in, ${cached} cached, ${output} out")
                };
                facts.push(format!("{} for a million tokens", words(&price.rates)));
                let long = price.long.as_ref();
                facts.extend(long.map(|(above, rates)| {
                    format!("above {} tokens {}", tokens(*above), words(rates))
                }));
            }
        }
        facts.extend(model.dates.released.as_ref().map(|day| format!("released {day}")));
        facts.extend(model.dates.retires.as_ref().map(|day| format!("retires {day}")));
        if model.origin == ListingOrigin::User {
            facts.push("from prices.json".to_owned());
        }
        let text = one_line(&for_terminal(&facts.join(" · ")));
        let room = Room::new(cells).indented(2);
        let folded = fold(&Row::new(Look::Dim, text), room, Breaks::Words);
        std::iter::once(Row::default()).chain(folded.into_iter().take(DETAILS)).collect()
    }
}

/// Returns the columns after the name that have room: context, and the prices of input and output.
fn columns(cells: usize, [context, input, output]: [String; 3]) -> String {
    match cells {
        WITH_PRICES.. => format!("  {context:>7}  {input:>6}  {output:>6}"),
        WITH_CONTEXT.. => format!("  {context:>7}"),
        _ => String::new(),
    }
}

/// Returns a name with these columns at the right.
fn line(mark: &str, name: &str, columns: &str, cells: usize) -> String {
    let room = cells.saturating_sub(columns.len());
    let name = cut_to(name, room.saturating_sub(mark.len()));
    let taken = mark.len() + pollux_input::text_width(&name);
    format!("{mark}{name}{}{columns}", " ".repeat(room.saturating_sub(taken)))
}

/// Formats a number of tokens: `1M`, `131k`.
fn tokens(count: u64) -> String {
    match count {
        1_000_000.. => format!("{}M", (count as f64 / 100_000.0).round() / 10.0),
        10_000.. => format!("{}k", count / 1000),
        _ => count.to_string(),
    }
}

/// Formats the price of a million tokens in dollars.
fn dollars(rate: u64) -> String {
    Money::from_parts(rate.saturating_mul(1_000_000)).usd().to_string()
}

#[cfg(test)]
mod tests {
    use pollux_protocol::{ModelDates, ModelLimits, Price};
    use pretty_assertions::assert_eq;

    use super::*;

    fn model(name: &str, price: Option<Price>) -> ModelListing {
        let limits = ModelLimits { context: 1_048_576, ..ModelLimits::default() };
        let abilities =
            Abilities { tools: Some(false), vision: Some(true), max_output: Some(65_536) };
        let (name, vendor) = (name.to_owned(), "Vendor".to_owned());
        let dates = ModelDates { retires: Some("2027-01-31".to_owned()), released: None };
        let origin = ListingOrigin::BuiltIn;
        ModelListing { name, vendor, limits, abilities, price, dates, origin }
    }

    fn picker() -> ModelPicker {
        picker_of("gemini-2.5-pro", "gemini-2.5-pro")
    }

    fn picker_of(requested: &str, last: &str) -> ModelPicker {
        let mut picker = ModelPicker::new(requested, last);
        assert_eq!(picker.wanted(), Some(ListRequest::Models));
        let rates =
            Rates { input: 1_250_000, cached: 125_000, cache_write: 1_250_000, output: 10_000_000 };
        let long = Some((200_000, Rates { input: 2_500_000, ..rates }));
        picker.take(Ok(ListAnswer::Models(vec![
            model("openai/gpt", Some(Price { rates, long })),
            model("gemini-2.5-pro", None),
            model("local/a\u{1b}[2J b\u{202e}", Some(Price::FREE)),
        ])));
        picker
    }

    fn text(picker: &ModelPicker, cells: usize, height: usize) -> String {
        let frame = picker.frame(cells, height);
        assert!(frame.rows.len() <= height && frame.cursor.0 < frame.rows.len());
        assert!(frame.rows.iter().all(|row| row.width() <= cells), "{cells}x{height}");
        frame.rows.iter().map(|row| row.text().trim_end().to_owned() + "\n").collect()
    }

    #[test]
    fn a_model_is_found_and_selected() {
        let mut picker = picker();
        assert!(text(&picker, 60, 24).contains("> (current) gemini-2.5-pro"));
        picker.press(KeyPress::Text("GPT".to_owned()));
        let shown = text(&picker, 60, 24);
        let expected = "> openai/gpt                              1M    1.25      10\n\n  \
                        Vendor · 1M tokens of context · answers up to 65k tokens ·\n  \
                        tools in text · images · $1.25 in, $0.125 cached, $10 out\n  \
                        for a million tokens · above 200k tokens $2.5 in, $0.125\n";
        assert!(shown.contains(expected), "{shown}");
        let run = |line: &str| PickerStep::Run(line.to_owned());
        assert_eq!(picker.press(KeyPress::Enter), run("/model set openai/gpt"));
        picker.press(KeyPress::Tab);
        assert!(text(&picker, 79, 24).contains("Remember model for future sessions: true"));
        assert_eq!(picker.press(KeyPress::Enter), run("/model set openai/gpt --persist"));
        picker.press(KeyPress::KillLeft);
        picker.press(KeyPress::Text("auto".to_owned()));
        assert_eq!(picker.press(KeyPress::Enter), run("/model set auto --persist"));
    }

    #[test]
    fn the_requested_model_is_the_current_one() {
        let run = |name: &str| PickerStep::Run(format!("/model set {name}"));
        for (requested, last, marked, selected) in [
            ("auto", "gemini-2.5-pro", Some("auto "), "auto"),
            ("openai/gpt", "gpt", Some("openai/gpt "), "openai/gpt"),
            ("pro", "gemini-2.5-pro", Some("gemini-2.5-pro "), "gemini-2.5-pro"),
            ("openai/gpt", "gemini-2.5-pro", Some("openai/gpt "), "openai/gpt"),
            ("another", "another", None, "auto"),
        ] {
            let mut picker = picker_of(requested, last);
            let shown = text(&picker, 79, 24);
            assert_eq!(
                shown.matches("(current)").count(),
                usize::from(marked.is_some()),
                "{shown}"
            );
            let marked = format!("> (current) {}", marked.unwrap_or_default());
            assert!(!shown.contains("(current)") || shown.contains(&marked), "{shown}");
            assert_eq!(picker.press(KeyPress::Enter), run(selected), "{requested}");
        }
    }

    #[test]
    fn a_name_of_a_server_is_no_command() {
        let mut picker = picker();
        picker.press(KeyPress::Text("local".to_owned()));
        assert!(text(&picker, 79, 24).contains("> local/a b  "), "{}", text(&picker, 79, 24));
        assert_eq!(picker.press(KeyPress::Enter), PickerStep::Open);
        assert!(text(&picker, 79, 24).contains("cannot be requested"));
    }

    #[test]
    fn it_fits_every_terminal() {
        let mut picker = picker();
        for is_read in [true, false] {
            for cells in [1, 2, 10, 19, 39, 40, 59, 60, 79, 299] {
                for height in [1, 2, 3, 4, 5, 6, 7, 10, 24, 100] {
                    text(&picker, cells, height);
                }
            }
            picker.is_read = is_read;
            picker.press(KeyPress::Text("nothing like it".to_owned()));
        }
    }
}
