//! Test suites as XML.

use std::borrow::Cow;
use std::io;

use cobalt_core::reporters::escape_control;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::suites::{Case, Counts, Outcome, Problem, Suite, suites};
use crate::results::Results;
use crate::terminal::one_line;

type Xml = Writer<Vec<u8>>;

/// The results of an invocation as the text of an XML file.
pub fn junit(results: &Results) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    write_all(&mut writer, &suites(results)).expect("writing to memory cannot fail");
    let mut text = String::from_utf8(writer.into_inner()).expect("all content is UTF-8");
    text.push('\n');
    text
}

fn write_all(writer: &mut Xml, suites: &[Suite]) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let counts = Counts::of(suites.iter().flat_map(|suite| &suite.cases));
    let attributes = [
        ("name", "cargo cobalt".to_owned()),
        ("tests", counts.tests.to_string()),
        ("failures", counts.failures.to_string()),
        ("errors", counts.errors.to_string()),
        ("time", format_seconds(suites.iter().map(|suite| suite.seconds).sum())),
    ];
    write_element(writer, "testsuites", &attributes, |writer| {
        suites.iter().try_for_each(|suite| write_suite(writer, suite))
    })
}

fn write_suite(writer: &mut Xml, suite: &Suite) -> io::Result<()> {
    let counts = Counts::of(suite.cases.iter());
    let mut attributes = vec![
        ("name", suite.name.clone()),
        ("tests", counts.tests.to_string()),
        ("failures", counts.failures.to_string()),
        ("errors", counts.errors.to_string()),
        ("skipped", counts.skipped.to_string()),
        ("time", format_seconds(suite.seconds)),
    ];
    attributes.extend(suite.timestamp.clone().map(|timestamp| ("timestamp", timestamp)));
    attributes.extend(suite.file.clone().map(|file| ("file", file)));
    write_element(writer, "testsuite", &attributes, |writer| {
        if !suite.properties.is_empty() {
            write_element(writer, "properties", &[], |writer| {
                suite.properties.iter().try_for_each(|(name, value)| {
                    write_empty_element(
                        writer,
                        "property",
                        &[("name", name.clone()), ("value", value.clone())],
                    )
                })
            })?;
        }
        suite.cases.iter().try_for_each(|case| write_case(writer, case, &suite.class))
    })
}

fn write_case(writer: &mut Xml, case: &Case, class: &str) -> io::Result<()> {
    let attributes = [
        ("classname", class.to_owned()),
        ("name", case.name.clone()),
        ("time", format_seconds(case.seconds)),
    ];
    if matches!(case.outcome, Outcome::Passed) && case.output.is_none() {
        return write_empty_element(writer, "testcase", &attributes);
    }
    write_element(writer, "testcase", &attributes, |writer| {
        match &case.outcome {
            Outcome::Passed => {}
            Outcome::Skipped(why) => write_empty_element(writer, "skipped", &[("message", why.clone())])?,
            Outcome::Failed(problem) => write_problem(writer, "failure", problem)?,
            Outcome::Errored(problem) => write_problem(writer, "error", problem)?,
        }
        case.output.as_ref().map_or(Ok(()), |output| write_text_element(writer, "system-out", &[], output))
    })
}

fn write_problem(writer: &mut Xml, name: &str, problem: &Problem) -> io::Result<()> {
    let attributes = [("type", problem.kind.to_owned()), ("message", problem.message.clone())];
    write_text_element(writer, name, &attributes, &problem.text)
}

fn write_element(
    writer: &mut Xml,
    name: &str,
    attributes: &[(&str, String)],
    inside: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    let attributes: Vec<_> = attributes.iter().map(|(name, value)| (*name, attribute_value(value))).collect();
    let attributes = attributes.iter().map(|(name, value)| (*name, &**value));
    writer.create_element(name).with_attributes(attributes).write_inner_content(inside)?;
    Ok(())
}

fn write_empty_element(writer: &mut Xml, name: &str, attributes: &[(&str, String)]) -> io::Result<()> {
    let attributes: Vec<_> = attributes.iter().map(|(name, value)| (*name, attribute_value(value))).collect();
    let attributes = attributes.iter().map(|(name, value)| (*name, &**value));
    writer.create_element(name).with_attributes(attributes).write_empty()?;
    Ok(())
}

fn write_text_element(
    writer: &mut Xml,
    name: &str,
    attributes: &[(&str, String)],
    text: &str,
) -> io::Result<()> {
    let attributes: Vec<_> = attributes.iter().map(|(name, value)| (*name, attribute_value(value))).collect();
    let attributes = attributes.iter().map(|(name, value)| (*name, &**value));
    let text = escape_control(text);
    let text = strip_invalid(&text);
    writer.create_element(name).with_attributes(attributes).write_text_content(BytesText::new(&text))?;
    Ok(())
}

/// A string as an attribute value: on one line, as readers normalize line breaks to spaces.
fn attribute_value(text: &str) -> String {
    strip_invalid(&one_line(text)).into_owned()
}

/// A printable string without the characters that XML 1.0 forbids even when escaped.
fn strip_invalid(text: &str) -> Cow<'_, str> {
    let is_invalid = |character: char| matches!(character, '\u{fffe}' | '\u{ffff}');
    match text.contains(is_invalid) {
        true => Cow::Owned(text.replace(is_invalid, "")),
        false => Cow::Borrowed(text),
    }
}

/// Seconds with millisecond precision.
fn format_seconds(seconds: f64) -> String {
    format!("{seconds:.3}")
}
