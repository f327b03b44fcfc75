//! What the HTML of a page says about itself, in one pass and with memory that its length bounds.
//!
//! The tokenizer is html5gum's. Beside it, this file knows as much of tree construction (HTML standard,
//! section 13.2.6) as decides whether an element counts: where the head ends, templates, foreign
//! elements (SVG, `MathML`), and elements with text alone. Scripting counts as enabled, as in browsers and
//! in search engines that render: what is in `<noscript>` is text. A tree is not built, because a page of
//! 128 KiB can nest formatting elements so that a tree has millions of nodes.

use html5gum::{Emitter, Error, State, Tokenizer};
use rustc_hash::FxHashMap;

/// What a page says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageFacts {
    /// The text of the first `<title>`.
    pub title: Option<String>,
    /// The `lang` of `<html>`.
    pub lang: Option<String>,
    /// The `href` of the first `<base>` that has one.
    pub base: Option<String>,
    /// The `href` of each `<link rel="canonical">` in the head.
    pub canonicals: Vec<String>,
    /// Whether there is one in the body, where it does not count.
    pub has_canonical_in_body: bool,
    /// The `content` of each `<meta name="robots">` and `<meta name="googlebot">`.
    pub robots: Vec<String>,
    /// The `<link rel="alternate" hreflang>` in the head.
    pub alternates: Vec<AlternateLink>,
    /// The encoding that a `<meta>` declares.
    pub charset: Option<String>,
    /// The text that is no title, without scripts and styles, and with a space for each tag.
    pub text: String,
    /// Other text in which a title may be: scripts, and attributes that are read to people.
    pub other_text: String,
    /// Whether the page ended in its head.
    pub ends_in_head: bool,
}

/// A link to a version in a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlternateLink {
    /// The language tag, or `x-default`, as written.
    pub hreflang: String,
    /// The URL, as written.
    pub href: String,
}

/// Reads a page. Malformed HTML is read as browsers do.
pub fn read(html: &str) -> PageFacts {
    // The reader hands over what it knows at the end.
    let tokens = Tokenizer::new_with_emitter(html, PageReader::default());
    tokens.map(|Ok(facts)| facts).last().unwrap_or_default()
}

/// Nested templates and foreign elements that are told apart; browsers have such a limit, too.
const MAX_DEPTH: usize = 512;

/// The part of a page that a token is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Head,
    /// Behind `</head>`, where most elements of the head still belong to it.
    AfterHead,
    Body,
    /// In or behind a `<frameset>`, where nothing counts.
    Frameset,
}

/// An element with text alone, in which the tokenizer sees no tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextElement {
    Title,
    Script,
    /// Its text is shown.
    Shown,
    /// Its text is not shown.
    Unseen,
}

/// An element that decides how tags in it are read.
#[derive(Debug)]
enum Scope {
    Template,
    Foreign {
        name: Vec<u8>,
        /// Of `MathML`, else of SVG.
        is_math: bool,
        /// Whether tags in it are those of HTML.
        is_integration_point: bool,
    },
}

/// A tag that is being read.
#[derive(Debug, Default)]
struct Tag {
    is_start: bool,
    is_self_closing: bool,
    name: Vec<u8>,
    /// The names and values of all attributes, one behind the other.
    bytes: Vec<u8>,
    attributes: Vec<Attribute>,
}

/// An attribute in the bytes of its tag.
#[derive(Clone, Copy, Debug)]
struct Attribute {
    name: usize,
    /// The start of its value; the end of its bytes without one.
    value: usize,
    end: usize,
}

/// Takes the tokens of a page.
#[derive(Default)]
struct PageReader {
    facts: PageFacts,
    part: Part,
    scopes: Vec<Scope>,
    /// How many of the scopes are templates.
    templates: usize,
    /// The elements of HTML that have begun and not ended, by name.
    open: FxHashMap<Box<[u8]>, usize>,
    tag: Tag,
    last_start_tag: Vec<u8>,
    inside: Option<TextElement>,
    title: Option<Vec<u8>>,
    text: Vec<u8>,
    other_text: Vec<u8>,
    has_ended: bool,
}

/// HTML elements that end foreign content (section 13.2.6.5).
const BREAKOUT: [&[u8]; 44] = [
    b"b",
    b"big",
    b"blockquote",
    b"body",
    b"br",
    b"center",
    b"code",
    b"dd",
    b"div",
    b"dl",
    b"dt",
    b"em",
    b"embed",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"head",
    b"hr",
    b"i",
    b"img",
    b"li",
    b"listing",
    b"menu",
    b"meta",
    b"nobr",
    b"ol",
    b"p",
    b"pre",
    b"ruby",
    b"s",
    b"small",
    b"span",
    b"strong",
    b"strike",
    b"sub",
    b"sup",
    b"table",
    b"tt",
    b"u",
    b"ul",
    b"var",
];

impl Tag {
    /// The first attribute with this name: the one that counts.
    fn bytes_of(&self, name: &[u8]) -> Option<&[u8]> {
        let mut found = self.attributes.iter().filter(|at| &self.bytes[at.name..at.value] == name);
        found.next().map(|at| &self.bytes[at.value..at.end])
    }

    fn attribute(&self, name: &[u8]) -> Option<String> {
        self.bytes_of(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// Whether an attribute with a list of words has this one.
    fn has_word(&self, name: &[u8], word: &str) -> bool {
        let words = self.bytes_of(name).unwrap_or_default();
        let mut words = words.split(u8::is_ascii_whitespace);
        words.any(|own| own.eq_ignore_ascii_case(word.as_bytes()))
    }

    fn clear(&mut self) {
        self.name.clear();
        self.bytes.clear();
        self.attributes.clear();
        self.is_self_closing = false;
    }
}

impl PageReader {
    fn is_in_template(&self) -> bool {
        self.templates > 0
    }

    fn enter(&mut self, scope: Scope) {
        if self.scopes.len() < MAX_DEPTH {
            self.templates += usize::from(matches!(scope, Scope::Template));
            self.scopes.push(scope);
        }
    }

    /// Leaves the scope at this place and all in it.
    fn leave(&mut self, at: usize) {
        let left = self.scopes.drain(at..);
        self.templates -= left.filter(|scope| matches!(scope, Scope::Template)).count();
    }

    /// Whether tags are those of SVG or `MathML` here.
    fn is_foreign(&self) -> bool {
        matches!(self.scopes.last(), Some(Scope::Foreign { is_integration_point: false, .. }))
    }

    /// Leaves the foreign elements up to one that has HTML in it.
    fn leave_foreign(&mut self) {
        while self.is_foreign() {
            self.scopes.pop();
        }
    }

    fn start_tag(&mut self) -> Option<State> {
        let tag = std::mem::take(&mut self.tag);
        let state = self.start(&tag);
        self.tag = tag;
        state
    }

    fn start(&mut self, tag: &Tag) -> Option<State> {
        if self.is_foreign() {
            let is_font = tag.name == b"font"
                && [&b"color"[..], b"face", b"size"]
                    .iter()
                    .any(|name| tag.attribute(name).is_some());
            let is_svg_in_annotation = tag.name == b"svg"
                && matches!(self.scopes.last(), Some(Scope::Foreign { name, .. }) if name == b"annotation-xml");
            if BREAKOUT.contains(&&*tag.name) || is_font {
                self.leave_foreign();
            } else if !is_svg_in_annotation {
                let is_math =
                    matches!(self.scopes.last(), Some(Scope::Foreign { is_math: true, .. }));
                self.enter_foreign(tag, is_math);
                return None;
            }
        }
        self.html_start(tag)
    }

    fn enter_foreign(&mut self, tag: &Tag, is_math: bool) {
        if tag.is_self_closing {
            return;
        }
        let is_integration_point = match &*tag.name {
            b"mi" | b"mo" | b"mn" | b"ms" | b"mtext" => is_math,
            b"foreignobject" | b"desc" | b"title" => !is_math,
            b"annotation-xml" if is_math => {
                let encoding = tag.attribute(b"encoding").unwrap_or_default();
                ["text/html", "application/xhtml+xml"]
                    .iter()
                    .any(|html| encoding.eq_ignore_ascii_case(html))
            }
            _ => false,
        };
        self.enter(Scope::Foreign { name: tag.name.clone(), is_math, is_integration_point });
    }

    fn html_start(&mut self, tag: &Tag) -> Option<State> {
        match self.open.get_mut(&*tag.name) {
            Some(open) => *open += 1,
            // The end tags of the first three end nothing, and the others are no elements of HTML.
            None if matches!(&*tag.name, b"html" | b"head" | b"body" | b"svg" | b"math") => {}
            None => _ = self.open.insert(tag.name.as_slice().into(), 1),
        }
        let in_template = self.is_in_template();
        if !in_template {
            self.place(&tag.name);
        }
        if !in_template && self.part != Part::Frameset {
            self.note(tag);
        }
        match &*tag.name {
            b"template" => {
                self.enter(Scope::Template);
                None
            }
            b"svg" | b"math" => {
                self.enter_foreign(tag, tag.name == b"math");
                None
            }
            name => {
                let (element, state) = text_element(name)?;
                self.inside = Some(element);
                if element == TextElement::Title && !in_template && self.title.is_none() {
                    self.title = Some(Vec::new());
                } else if element == TextElement::Title {
                    self.inside = Some(TextElement::Unseen);
                }
                Some(state)
            }
        }
    }

    /// Moves on to the part in which a start tag stands.
    fn place(&mut self, name: &[u8]) {
        let belongs_to_head = match name {
            b"base" | b"basefont" | b"bgsound" | b"link" | b"meta" | b"noframes" | b"script"
            | b"style" | b"template" | b"title" | b"html" | b"head" => true,
            b"noscript" => self.part == Part::Head,
            _ => false,
        };
        self.part = match self.part {
            Part::Head | Part::AfterHead if name == b"frameset" => Part::Frameset,
            part if belongs_to_head => part,
            Part::Head | Part::AfterHead => Part::Body,
            part => part,
        };
    }

    fn note(&mut self, tag: &Tag) {
        let facts = &mut self.facts;
        match &*tag.name {
            b"html" if facts.lang.is_none() => facts.lang = tag.attribute(b"lang"),
            b"base" if facts.base.is_none() => facts.base = tag.attribute(b"href"),
            b"link" => {
                let Some(href) = tag.attribute(b"href").filter(|href| !href.trim().is_empty())
                else {
                    return;
                };
                let in_head = self.part != Part::Body;
                if tag.has_word(b"rel", "canonical") {
                    facts.has_canonical_in_body |= !in_head;
                    if in_head {
                        facts.canonicals.push(href.clone());
                    }
                }
                if let Some(hreflang) = tag.attribute(b"hreflang")
                    && in_head
                    && tag.has_word(b"rel", "alternate")
                {
                    facts.alternates.push(AlternateLink { hreflang, href });
                }
            }
            b"meta" => {
                let is = |name: &[u8], value: &str| {
                    tag.attribute(name).is_some_and(|own| own.trim().eq_ignore_ascii_case(value))
                };
                let content = tag.attribute(b"content");
                if is(b"name", "robots") || is(b"name", "googlebot") {
                    facts.robots.extend(content);
                } else if facts.charset.is_none() {
                    facts.charset = tag.attribute(b"charset").or_else(|| {
                        let of_content = content.as_deref().and_then(super::charset::of_media_type);
                        of_content.filter(|_| is(b"http-equiv", "content-type"))
                    });
                }
            }
            _ => {}
        }
        for name in [&b"alt"[..], b"aria-label", b"title", b"content"] {
            if let Some(value) = tag.bytes_of(name) {
                self.other_text.extend_from_slice(value);
                self.other_text.push(b' ');
            }
        }
    }

    fn end_tag(&mut self) {
        let name = std::mem::take(&mut self.tag.name);
        self.inside = None;
        if !self.end_foreign(&name) {
            self.html_end(&name);
        }
        self.tag.name = name;
    }

    /// Ends the foreign element with this name, if the tag belongs to one.
    fn end_foreign(&mut self, name: &[u8]) -> bool {
        if self.is_foreign() && matches!(name, b"br" | b"p") {
            self.leave_foreign();
            return false;
        }
        let mut found = None;
        for (at, scope) in self.scopes.iter().enumerate().rev() {
            match scope {
                Scope::Template => break,
                Scope::Foreign { name: own, .. } if own == name => {
                    found = Some(at);
                    break;
                }
                Scope::Foreign { .. } => {}
            }
        }
        if let Some(at) = found {
            self.leave(at);
            return true;
        }
        // The tag may end an element of HTML around the foreign ones, and these with it.
        if self.open.get(name).is_some_and(|open| *open > 0) {
            self.leave_foreign();
        }
        false
    }

    fn html_end(&mut self, name: &[u8]) {
        if let Some(open) = self.open.get_mut(name) {
            *open = open.saturating_sub(1);
        }
        if name == b"template" {
            let open = self.scopes.iter().rposition(|scope| matches!(scope, Scope::Template));
            if let Some(open) = open {
                self.leave(open);
            }
            return;
        }
        if self.is_in_template() {
            return;
        }
        self.part = match (name, self.part) {
            (b"head", Part::Head) => Part::AfterHead,
            (b"body" | b"html" | b"br", Part::Head | Part::AfterHead) => Part::Body,
            (_, part) => part,
        };
    }

    fn string(&mut self, text: &[u8]) {
        match self.inside {
            Some(TextElement::Title) => {
                if let Some(title) = &mut self.title {
                    title.extend_from_slice(text);
                }
            }
            Some(TextElement::Script) => self.other_text.extend_from_slice(text),
            Some(TextElement::Unseen) => {}
            Some(TextElement::Shown) | None if self.is_in_template() => {}
            Some(TextElement::Shown) | None => {
                // Browsers drop NUL.
                let is_blank = text.iter().all(|byte| b" \t\n\r\x0c\0".contains(byte));
                if self.inside.is_none()
                    && !is_blank
                    && matches!(self.part, Part::Head | Part::AfterHead)
                {
                    self.part = Part::Body;
                }
                self.text.extend_from_slice(text);
            }
        }
    }

    fn finish(&mut self) -> PageFacts {
        let text = |bytes: &mut Vec<u8>| {
            let bytes = std::mem::take(bytes);
            String::from_utf8(bytes)
                .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
        };
        let mut facts = std::mem::take(&mut self.facts);
        facts.title = self.title.as_mut().map(text);
        facts.text = text(&mut self.text);
        facts.other_text = text(&mut self.other_text);
        facts.ends_in_head = self.part == Part::Head;
        facts
    }
}

/// What is in an element of HTML with this name, if that is text alone, and how it is tokenized.
fn text_element(name: &[u8]) -> Option<(TextElement, State)> {
    Some(match name {
        b"title" => (TextElement::Title, State::RcData),
        b"textarea" => (TextElement::Shown, State::RcData),
        b"script" => (TextElement::Script, State::ScriptData),
        b"xmp" => (TextElement::Shown, State::RawText),
        b"style" | b"iframe" | b"noembed" | b"noframes" | b"noscript" => {
            (TextElement::Unseen, State::RawText)
        }
        b"plaintext" => (TextElement::Shown, State::PlainText),
        _ => return None,
    })
}

impl Emitter for PageReader {
    type Token = PageFacts;

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.last_start_tag = name.unwrap_or_default().to_vec();
    }

    fn emit_eof(&mut self) {
        self.has_ended = true;
    }

    fn emit_error(&mut self, _: Error) {}

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn pop_token(&mut self) -> Option<PageFacts> {
        std::mem::take(&mut self.has_ended).then(|| self.finish())
    }

    fn emit_string(&mut self, text: &[u8]) {
        self.string(text);
    }

    fn init_start_tag(&mut self) {
        self.tag.is_start = true;
        self.tag.clear();
    }

    fn init_end_tag(&mut self) {
        self.tag.is_start = false;
        self.tag.clear();
    }

    fn init_comment(&mut self) {}

    fn emit_current_tag(&mut self) -> Option<State> {
        // Words in two elements are two words.
        if self.text.last().is_some_and(|byte| *byte != b' ') {
            self.text.push(b' ');
        }
        if self.tag.is_start {
            self.last_start_tag.clone_from(&self.tag.name);
            self.start_tag()
        } else {
            self.end_tag();
            None
        }
    }

    fn emit_current_comment(&mut self) {}

    fn emit_current_doctype(&mut self) {}

    fn set_self_closing(&mut self) {
        self.tag.is_self_closing = true;
    }

    fn set_force_quirks(&mut self) {}

    fn push_tag_name(&mut self, name: &[u8]) {
        self.tag.name.extend_from_slice(name);
    }

    fn push_comment(&mut self, _: &[u8]) {}

    fn push_doctype_name(&mut self, _: &[u8]) {}

    fn init_doctype(&mut self) {}

    fn init_attribute(&mut self) {
        let at = self.tag.bytes.len();
        self.tag.attributes.push(Attribute { name: at, value: at, end: at });
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        self.tag.bytes.extend_from_slice(name);
        if let Some(attribute) = self.tag.attributes.last_mut() {
            (attribute.value, attribute.end) = (self.tag.bytes.len(), self.tag.bytes.len());
        }
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        self.tag.bytes.extend_from_slice(value);
        if let Some(attribute) = self.tag.attributes.last_mut() {
            attribute.end = self.tag.bytes.len();
        }
    }

    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        !self.tag.is_start && !self.tag.name.is_empty() && self.tag.name == self.last_start_tag
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.is_foreign()
    }
}
