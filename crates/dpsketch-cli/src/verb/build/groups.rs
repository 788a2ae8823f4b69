//! One sketch for each group, in one table.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dpsketch::dp_noise::{Amount, Epsilon};
use dpsketch::{Error, ErrorKind, GroupedBuilder, GroupedSketches, PrivacyUnit};
use serde_json::json;

use super::BuildArgs;
use super::rows::{GroupRows, Roles};
use super::settings::Settings;
use super::users::tell_users;
use crate::console::{Console, Report, only_the_report};
use crate::format::{count, counted};
use crate::io::Destination;
use crate::paths::paths;
use crate::table::write_groups;

#[derive(Debug, Args)]
#[command(next_help_heading = "Groups")]
pub(crate) struct GroupArgs {
    /// Make one sketch for each value of this column, all in one Parquet file: text, integers, booleans or dates.
    ///
    /// Every group is released at epsilon. A person in g groups pays g times epsilon, unless --user bounds what a user
    /// contributes to all groups together.
    #[arg(long, value_name = "G")]
    pub(crate) group_by: Option<String>,
    /// A public list of the groups, one a line. Groups that are not in the data get a sketch like any other; rows of other
    /// groups are left out. Without a list the file reveals which groups exist.
    #[arg(long, value_name = "FILE", value_parser = paths(), requires = "group_by")]
    pub(crate) groups: Option<PathBuf>,
}

/// No list of groups is longer, in bytes.
const MAX_LIST: u64 = 1 << 30;

pub(super) fn run(args: &BuildArgs, column: &str, settings: &Settings, console: Console) -> Result<(), Error> {
    let epsilon = settings.epsilon.ok_or_else(|| {
        Error::new(ErrorKind::Parameter, "--group-by needs --epsilon: there are no raw files of groups")
            .argument("--group-by")
            .allowed("together with --epsilon or --study")
            .hint("say --epsilon to release at once")
    })?;
    if column == "sketch" {
        return Err(Error::new(ErrorKind::Column, "the column of groups cannot be called \"sketch\"")
            .argument("--group-by")
            .value(column)
            .hint("rename the column: the file needs that name for the sketches"));
    }
    let list = args.groups.groups.as_deref().map(read_list).transpose()?;
    // What a ledger will be asked for at least; how many groups there are shows later.
    let known = list.as_ref().map_or(1, |list| list.len().max(1));
    let mut books =
        args.booking.open_for(settings.unit, console, || GroupedSketches::cost_of(known, epsilon, settings.unit))?;
    let destination = Destination::open_table(&args.out, &["parquet", "pq"])?;

    let sketches = read(args, list.as_ref(), settings, console)?;
    let groups = sketches.len();
    tell_privacy(args, groups, epsilon, settings.unit, console);
    sketches.check_release(epsilon, settings.unit)?;
    // One payment for all groups; each of them is released at its share.
    books.pay_for(settings.unit, || sketches.cost(epsilon, settings.unit))?;
    let released = sketches.release(column, epsilon, settings.unit).map_err(|error| books.explain(error, None))?;
    let container = released.container().clone();
    let written = destination.write_with(|out| write_groups(out, released, &args.out.display().to_string()));
    let free = written.map_err(|error| books.explain(error, None))?;
    books.finish(Some(container.release()))?;
    if free && !console.is_quiet_text() {
        let told = report(&args.out, groups, epsilon, settings, container.is_listed());
        console.print(&told).map_err(|error| only_the_report(error, &args.out.display().to_string()))?;
    }
    Ok(())
}

fn read(
    args: &BuildArgs,
    list: Option<&Arc<[String]>>,
    settings: &Settings,
    console: Console,
) -> Result<GroupedSketches, Error> {
    let roles = Arc::new(Roles::new(args));
    let empty = || {
        let mut builder = GroupedBuilder::new(settings.shape, settings.hash.clone(), settings.rules.clone());
        if let Some(list) = list {
            builder = builder.with_list(list.clone());
        }
        if settings.unit != PrivacyUnit::Item {
            builder = builder.for_users(args.users.bound(settings)?)?;
        }
        Ok(GroupRows { builder, roles: roles.clone() })
    };
    let GroupRows { builder, .. } = args.read(console, empty)?;
    let counts = builder.counts();
    super::tell_rows(counts.rows, counts.nulls, console);
    if counts.unlisted > 0 {
        console.note(&format!("{} of groups that are not in the list left out", counted(counts.unlisted, "row")));
    }
    let (sketches, users) = builder.finish()?;
    if let Some(users) = users {
        tell_users(users, settings.unit, console);
    }
    Ok(sketches)
}

/// Says what the file gives away, and what somebody in several groups pays.
fn tell_privacy(args: &BuildArgs, groups: usize, epsilon: Epsilon, unit: PrivacyUnit, console: Console) {
    if args.groups.groups.is_none() {
        console.warn(&format!(
            "which groups exist is read from the data, and {} reveals it; name a public list with --groups",
            args.out.display()
        ));
    }
    let epsilon = Amount::from_epsilon(epsilon);
    match unit {
        PrivacyUnit::Item => console.note(&format!(
            "every group costs epsilon {epsilon}: somebody in g of the {} groups pays g times that",
            count(groups as u64)
        )),
        unit => console.note(&format!("epsilon {epsilon} is for all groups together, for {unit}")),
    }
}

fn report(out: &Path, groups: usize, epsilon: Epsilon, settings: &Settings, listed: bool) -> Report {
    let (shape, unit) = (settings.shape, settings.unit);
    let text = format!(
        "wrote {}: {} of private sfm sketches, {shape}, epsilon {} for {unit}\n",
        out.display(),
        counted(groups as u64, "group"),
        Amount::from_epsilon(epsilon)
    );
    let json = json!({
        "file": out.display().to_string(),
        "kind": "sfm",
        "state": "private",
        "groups": groups,
        "listed": listed,
        "buckets": shape.buckets(),
        "levels": shape.levels(),
        "epsilon": epsilon.get(),
        "unit": unit.to_string(),
    });
    Report::of_one(text, json)
}

/// The lines of a list of groups.
fn read_list(file: &Path) -> Result<Arc<[String]>, Error> {
    let name = file.display().to_string();
    let failed = |error| Error::reading(&name, error).argument("--groups");
    let opened = File::open(file).map_err(failed)?;
    let mut list = Vec::new();
    let mut lines = BufReader::new(opened.take(MAX_LIST + 1));
    let mut length = 0;
    loop {
        let mut line = String::new();
        length += lines.read_line(&mut line).map_err(failed)? as u64;
        if line.is_empty() {
            return Ok(list.into());
        }
        if length > MAX_LIST {
            return Err(Error::new(ErrorKind::Damaged, format!("{name} is too long to be a list of groups"))
                .argument("--groups")
                .value(&name)
                .allowed(format!("at most {MAX_LIST} bytes")));
        }
        let text = line.strip_suffix('\n').map_or(line.as_str(), |line| line.strip_suffix('\r').unwrap_or(line));
        let text = if list.is_empty() { text.trim_start_matches('\u{feff}') } else { text };
        list.push(text.to_owned());
    }
}
