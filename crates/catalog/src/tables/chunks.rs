//! A table as a text, in chunks.

use serde::Serialize;

use crate::json::{self, Json};

/// The approximate size of a chunk in bytes: rows take longer than URLs alone.
const CHUNK: usize = 32 * 1024;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One JSON document, the rows in a list.
    Json,
    /// Each row as a JSON text on a line of its own; the last line has the figures, so that a client
    /// can tell whether it has everything.
    Lines,
}

/// The rows of a table, which are written one after the other.
pub trait Rows: Sized {
    /// The name of the list in the JSON document.
    const NAME: &'static str;

    /// Whether the figures are known only after the last row: then they are after the list.
    const FIGURES_LAST: bool = false;

    /// The members of `data` beside the list, which are those of the last line as well.
    type Figures: Serialize;

    /// The figures.
    fn figures(&self) -> Self::Figures;

    /// Appends the next row, a JSON text.
    fn write_next(&mut self, out: &mut Json) -> Step;

    /// The table as a text.
    fn chunks(self, form: Form) -> Chunks<Self> {
        Chunks { rows: self, form, state: State::Head }
    }
}

/// The result of writing the next row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A row was appended.
    Row,
    /// Nothing was appended yet: many rows in turn are not part of the table.
    Nothing,
    /// There are no more rows.
    End,
}

/// The text of a table, as an iterator over its chunks. An empty chunk stands for work without a
/// row.
#[derive(Debug)]
pub struct Chunks<R> {
    rows: R,
    form: Form,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    FirstRow,
    Rows,
    Done,
}

impl<R: Rows> Chunks<R> {
    fn write(&mut self, out: &mut Json) {
        if self.state == State::Head {
            self.state = State::FirstRow;
            if self.form == Form::Json {
                out.raw(r#"{"data":{"#);
                if !R::FIGURES_LAST {
                    out.raw(&self.figures()).raw(",");
                }
                out.raw("\"").raw(R::NAME).raw("\":[");
            }
        }
        while out.length() < CHUNK {
            let before = out.length();
            if self.form == Form::Json && self.state == State::Rows {
                out.raw(",");
            }
            match self.rows.write_next(out) {
                Step::Row => {
                    self.state = State::Rows;
                    if self.form == Form::Lines {
                        out.raw("\n");
                    }
                }
                Step::Nothing => return out.truncate(before),
                Step::End => {
                    out.truncate(before);
                    self.state = State::Done;
                    out.raw(&self.tail());
                    return;
                }
            }
        }
    }

    fn tail(&self) -> String {
        match self.form {
            Form::Json if R::FIGURES_LAST => format!("],{}}},\"meta\":{{}}}}", self.figures()),
            Form::Json => "]},\"meta\":{}}".to_owned(),
            Form::Lines => format!("{{{}}}\n", self.figures()),
        }
    }

    /// The figures without the braces around them.
    fn figures(&self) -> String {
        let text = json::to_text(&self.rows.figures());
        text[1..text.len() - 1].to_owned()
    }
}

impl<R: Rows> Iterator for Chunks<R> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.state == State::Done {
            return None;
        }
        let mut out = Json::with_capacity(CHUNK + CHUNK / 8);
        self.write(&mut out);
        Some(out.into_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Count {
        count: u32,
    }

    #[derive(Serialize)]
    struct Left {
        left: u32,
    }

    /// Rows of a number; between two of them nothing is found once.
    struct Numbers {
        left: u32,
        found_nothing: bool,
    }

    impl Rows for Numbers {
        const NAME: &'static str = "numbers";
        type Figures = Count;

        fn figures(&self) -> Count {
            Count { count: 3 }
        }

        fn write_next(&mut self, out: &mut Json) -> Step {
            self.found_nothing ^= true;
            match self.left {
                _ if self.found_nothing => Step::Nothing,
                0 => Step::End,
                left => {
                    self.left -= 1;
                    out.value(&left);
                    Step::Row
                }
            }
        }
    }

    fn text(left: u32, form: Form) -> String {
        Numbers { left, found_nothing: false }.chunks(form).collect()
    }

    #[test]
    fn chunks_are_a_document_or_lines() {
        assert_eq!(text(3, Form::Json), r#"{"data":{"count":3,"numbers":[3,2,1]},"meta":{}}"#);
        assert_eq!(text(0, Form::Json), r#"{"data":{"count":3,"numbers":[]},"meta":{}}"#);
        assert_eq!(text(3, Form::Lines), "3\n2\n1\n{\"count\":3}\n");
        assert_eq!(text(0, Form::Lines), "{\"count\":3}\n");
    }

    /// A table whose figures are known at its end.
    struct Counted(Numbers);

    impl Rows for Counted {
        const NAME: &'static str = "numbers";
        const FIGURES_LAST: bool = true;
        type Figures = Left;

        fn figures(&self) -> Left {
            Left { left: self.0.left }
        }

        fn write_next(&mut self, out: &mut Json) -> Step {
            self.0.write_next(out)
        }
    }

    #[test]
    fn figures_that_are_known_last_are_after_the_list() {
        let text = |left, form| {
            let rows = Counted(Numbers { left, found_nothing: false });
            rows.chunks(form).collect::<String>()
        };
        assert_eq!(text(2, Form::Json), r#"{"data":{"numbers":[2,1],"left":0},"meta":{}}"#);
        assert_eq!(text(0, Form::Json), r#"{"data":{"numbers":[],"left":0},"meta":{}}"#);
        assert_eq!(text(1, Form::Lines), "1\n{\"left\":0}\n");
    }

    #[test]
    fn chunks_have_about_the_same_size() {
        let chunks = Numbers { left: 50_000, found_nothing: false }.chunks(Form::Lines);
        assert!(chunks.into_iter().all(|chunk| chunk.len() <= CHUNK + 16));
    }
}
