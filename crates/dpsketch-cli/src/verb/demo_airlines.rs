//! The same aircraft once more, from sixteen airlines: a tally beside a merged sketch.

use std::collections::HashSet;

use dpsketch::cardinality_estimators::Confidence;
use dpsketch::dp_noise::{Amount, Epsilon};
use dpsketch::sfm_pcsa::MergeForm;
use dpsketch::{Answer, AnySketch, Error, ErrorKind, RawSketch, estimate, merge, tally};
use serde_json::{Value, json};

use super::demo::{Party, found, row_of};
use crate::console::Report;
use crate::format::{columns, count, lines, number};

/// Releases a sketch of each airline, and tells how many aircraft all of them have.
pub(super) fn story(airlines: Vec<Party>, epsilon: Epsilon) -> Result<Report, Error> {
    let exact = airlines.iter().flat_map(|airline| &airline.exact).collect::<HashSet<_>>().len();
    let released = airlines
        .into_iter()
        .map(|Party { code, builder, .. }| Ok((code, RawSketch::try_from(builder)?.release(epsilon)?.into())));
    let released: Vec<(String, AnySketch)> = released.collect::<Result<_, Error>>()?;
    let mut answers =
        vec![("tally file", estimate(&[("all.tally.dps".to_owned(), tally(&released)?)], Confidence::P95)?)];
    match merge(&released, MergeForm::Extremal) {
        Ok(merged) => answers.push(("merged file", estimate(&[("all.dps".to_owned(), merged)], Confidence::P95)?)),
        // Of so small an epsilon nothing is left in a merge of sixteen.
        Err(error) if error.kind() == ErrorKind::Incompatible => {}
        Err(error) => return Err(error),
    }
    let rows: Vec<Value> = answers.iter().map(|(what, answer)| row_of(what, answer, exact)).collect();
    let text = text(epsilon, released.len(), &answers, exact);
    Ok(Report { text, json: json!({ "epsilon": epsilon.get(), "airlines": released.len(), "results": rows }), rows })
}

fn text(epsilon: Epsilon, airlines: usize, answers: &[(&str, Answer)], exact: usize) -> String {
    let epsilon = Amount::from_epsilon(epsilon);
    let head = format!(
        "And how many do the {airlines} airlines have together? Each releases a sketch of its own aircraft with epsilon {epsilon}. A tally\n\
         keeps the sketches apart, by how many of them have a one in each cell; a merge makes one sketch of them, with the noise\n\
         of all:\n"
    );
    let method = answers.first().and_then(|(_, answer)| answer.method()).map(|method| method.to_string());
    let titles = ["", "estimate", "95 % interval", "error", "exact", "status"].map(str::to_owned);
    let cells = answers.iter().map(|(what, answer)| {
        let [estimate, interval, status] = found(answer.estimate());
        let error = answer.estimate().std_error().map_or_else(|| "none".to_owned(), number);
        [(*what).to_owned(), estimate, interval, error, count(exact as u64), status]
    });
    let table: Vec<_> = [titles].into_iter().chain(cells).collect();
    let foot = format!(
        "\nThe method is a {}. The airlines' files themselves give the same answer, without a tally file.\n\
         The same with files of your own:\n\n  \
         dpsketch merge --tally a.dps b.dps c.dps d.dps --out all.tally.dps\n  \
         dpsketch estimate all.tally.dps",
        method.unwrap_or_default()
    );
    lines([head].into_iter().chain(columns(&table, &[1, 3, 4])).chain([foot]))
}
