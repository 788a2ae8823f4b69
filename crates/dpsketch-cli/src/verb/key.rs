//! `key`: hash keys.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use dpsketch::dp_noise::SubsampleKey;
use dpsketch::sketch_hash::HashKey;
use dpsketch::{Error, create_key_file, create_subsample_key_file, read_key_file, read_subsample_key_file};
use serde_json::json;

use crate::console::{Console, Report};
use crate::format::pairs;
use crate::paths::paths;

#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a key for a study, from the system's randomness. All parties need the same file.
    ///
    /// A key that stays secret keeps whoever may choose items from pushing counts up or down. It is not what protects
    /// the people in the data: the noise of a release does that, whoever knows the key.
    New {
        /// The file to write; it must not exist yet. Only its owner may read it.
        #[arg(value_name = "FILE", value_parser = paths())]
        file: PathBuf,
        /// Make the secret key of a sample instead, for `dpsketch build --subsample-key`. It is what protects the people in the
        /// data: nobody who sees the releases may ever get it.
        #[arg(long)]
        subsample: bool,
    },
    /// Show the fingerprint of a key: it tells whether two parties have the same one, and gives nothing of it away. Of the key of
    /// a sample, its name, which `dpsketch inspect` shows of sketches made with it.
    Show {
        /// The key file; the public key that is used without one, if left out.
        #[arg(value_name = "FILE", value_parser = paths())]
        file: Option<PathBuf>,
        /// Only the secret key of a sample will do.
        #[arg(long, requires = "file")]
        subsample: bool,
    },
}

pub(crate) fn run(args: &KeyArgs, console: Console) -> Result<(), Error> {
    match &args.action {
        Action::New { file, subsample: true } => {
            let key = create_subsample_key_file(file).map_err(|error| error.argument_or("FILE"))?;
            console.note(
                "keep it from everybody who may see a release made with it, for good, and delete it once no further sketch under it is due",
            );
            show_sample(file, &key, console)
        }
        Action::Show { file: Some(file), subsample: true } => {
            show_sample(file, &read_subsample_key_file(file).map_err(|error| error.argument("FILE"))?, console)
        }
        Action::New { file, subsample: false } => {
            let key = create_key_file(file).map_err(|error| error.argument_or("FILE"))?;
            console.note("give the same file to all parties, over a channel that you trust, and to nobody else");
            show(Some(file), key, console)
        }
        Action::Show { file: Some(file), subsample: false } => {
            // Whoever has a file of either kind wants to know what it is called in sketches.
            if file.is_file()
                && let Ok(key) = read_subsample_key_file(file)
            {
                return show_sample(file, &key, console);
            }
            let key = read_key_file(file).map_err(|error| error.argument("FILE"))?;
            console.detail("the key itself is the second line of the file");
            show(Some(file), key, console)
        }
        Action::Show { file: None, .. } => show(None, HashKey::DEFAULT, console),
    }
}

fn show_sample(file: &Path, key: &SubsampleKey, console: Console) -> Result<(), Error> {
    let (file, id) = (file.display().to_string(), key.id().to_string());
    let text = pairs(&[("sample key", file.clone()), ("name", id.clone())]);
    console.print(&Report::of_one(text, json!({ "file": file, "sample_key": id })))
}

fn show(file: Option<&PathBuf>, key: HashKey, console: Console) -> Result<(), Error> {
    let (file, fingerprint) = (file.map(|file| file.display().to_string()), key.fingerprint().to_string());
    let public = key == HashKey::DEFAULT;
    let text = pairs(&[
        ("key", file.clone().unwrap_or_else(|| "the public one, used where no --key-file is given".to_owned())),
        ("fingerprint", fingerprint.clone()),
    ]);
    console.print(&Report::of_one(text, json!({ "file": file, "fingerprint": fingerprint, "public": public })))
}
