//! Users as the unit of privacy.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use dpsketch::{
    BoundedBuilder, Error, ErrorKind, MaxItems, PrivacyUnit, SpillSettings, UserBound, UserCounts, parse_count,
};

use super::plain::Output;
use super::rows::{Roles, UserRows};
use super::settings::Settings;
use super::{BuildArgs, tell_rows};
use crate::console::Console;
use crate::format::{count, counted};
use crate::paths::paths;

#[derive(Debug, Args)]
#[command(next_help_heading = "Users")]
pub(crate) struct UserArgs {
    /// The column that says which user a row belongs to: epsilon is then for a whole user, and the file says so.
    ///
    /// Which items of a user are kept depends on that user's rows only. Rows may come in any order: what does not fit in
    /// 256 MiB is sorted in a temporary file, which is as sensitive as the data; see --sorted-by-user.
    #[arg(long, value_name = "U")]
    pub(crate) user: Option<String>,
    /// The most distinct items that are kept of each user. For distinct counts each item is released at epsilon / M.
    #[arg(long, value_name = "M", value_parser = max_items, allow_negative_numbers = true, requires = "user")]
    pub(crate) max_items: Option<MaxItems>,
    /// The rows of each user stand together, as in input sorted by user: no temporary file, little memory. Input that is
    /// not like that is refused, and the row at fault named.
    #[arg(long, requires = "user")]
    pub(crate) sorted_by_user: bool,
    /// The folder for the temporary file of --user, or of --kind f0 --mode set. The system's if left out.
    #[arg(long, value_name = "DIR", value_parser = paths(), conflicts_with = "sorted_by_user")]
    pub(crate) temp_dir: Option<PathBuf>,
}

/// The most items of a user.
pub(crate) fn max_items(text: &str) -> Result<MaxItems, Error> {
    let allowed = |error: Error| error.value(text).allowed(format!("1 to {}", MaxItems::MAX));
    let value = parse_count(text).map_err(allowed)?;
    MaxItems::new(u32::try_from(value).unwrap_or(u32::MAX)).map_err(|error| allowed(error.into()))
}

pub(super) fn run(args: &BuildArgs, settings: &Settings, console: Console) -> Result<(), Error> {
    let output = Output::open(args, settings, console)?;
    let roles = Arc::new(Roles::new(args));
    let empty = || {
        let Settings { shape, hash, rules, .. } = settings;
        let bound = args.users.bound(settings)?;
        Ok(UserRows { builder: BoundedBuilder::new(*shape, hash.clone(), rules.clone(), bound), roles: roles.clone() })
    };
    let UserRows { builder, .. } = args.read(console, empty)?;
    let counts = builder.counts();
    let (raw, users) = builder.finish()?;
    tell_rows(counts.rows, counts.nulls, console);
    tell_users(users, settings.unit, console);
    output.write(raw, settings, console)
}

impl UserArgs {
    /// The bound that was asked for.
    pub(super) fn bound(&self, settings: &Settings) -> Result<UserBound, Error> {
        let PrivacyUnit::User { max_items } = settings.unit else {
            return Err(Error::new(ErrorKind::Internal, "there is no bound without users"));
        };
        match self.spilling()? {
            None => Ok(UserBound::sorted(max_items, settings.key)),
            Some(spill) => UserBound::spilling(max_items, settings.key, spill),
        }
    }

    /// How rows in any order are sorted; `None` where they stand in the order of users.
    pub(super) fn spilling(&self) -> Result<Option<SpillSettings>, Error> {
        if self.sorted_by_user {
            return Ok(None);
        }
        let usual = SpillSettings::default();
        let folder = self.folder(usual.folder.clone())?;
        Ok(Some(SpillSettings { folder, ..usual }))
    }

    /// The folder for temporary files, which has to be there.
    pub(super) fn folder(&self, usual: PathBuf) -> Result<PathBuf, Error> {
        let folder = self.temp_dir.clone().unwrap_or(usual);
        if folder.is_dir() {
            return Ok(folder);
        }
        Err(Error::new(ErrorKind::Parameter, format!("{} is not a folder", folder.display()))
            .argument("--temp-dir")
            .value(folder.display().to_string())
            .allowed("a folder that may be written to"))
    }

    /// Refuses a folder for a temporary file that nothing needs.
    pub(super) fn check_folder(&self) -> Result<(), Error> {
        match &self.temp_dir {
            Some(folder) if self.user.is_none() => {
                Err(Error::new(ErrorKind::Parameter, "nothing is sorted, so no temporary file is needed")
                    .argument("--temp-dir")
                    .value(folder.display().to_string())
                    .allowed("together with --user, or with --kind f0")
                    .hint("leave --temp-dir out"))
            }
            _ => Ok(()),
        }
    }
}

/// Says what the bound came to.
pub(super) fn tell_users(users: UserCounts, unit: PrivacyUnit, console: Console) {
    console.note(&format!(
        "{} of {} kept; epsilon is for {unit}",
        counted(users.kept, "distinct item"),
        counted(users.users, "user")
    ));
    console.detail(&format!("{} rows went through the bound on users", count(users.rows)));
}
