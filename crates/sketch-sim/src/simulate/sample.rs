//! Secret samples of PCSA sketches: a trial with a key of its own, every item, every coin of the key and every flip.

use cardinality_estimators::{BitChannel, Estimate};
use dp_noise::hazmat::InsecureTestRng;
use dp_noise::{Epsilon, Permit, SampleRate, SubsampleKey};
use serde_json::{Value, json};
use sfm_pcsa::{
    MergeForm, PcsaShape, RawSubsampledPcsa, SketchShape, SubsampledMergeError, SubsampledSfmSketch,
    subsampled_union_estimate,
};
use sketch_hash::DefaultHash;

use super::cells::{CONFIDENCE, build_by};
use super::family::{BATCH, hashes};
use super::predict;
use super::run::SimulationError;
use super::settings::{Merge, Sampling, Settings};
use super::summary::Summary;
use super::trial::Trial;
use super::trials::in_parallel;
use crate::number;
use crate::options::{OptionError, Options};

/// The most items whose coins are tossed: each takes a block of a cipher.
pub(crate) const MAX_ITEMS: u64 = 1 << 32;

/// `--subsample-rate`.
pub(crate) fn rate(options: &Options) -> Result<Option<SampleRate>, OptionError> {
    let gamma = options.number::<f64>("--subsample-rate", "a rate from 2^-32 to 1, and not 1")?;
    gamma
        .map(|gamma| SampleRate::new(gamma).map_err(|error| refuse(&gamma.to_string(), &error.to_string())))
        .transpose()
}

/// The error for a rate beside settings that have no sample.
pub(crate) fn refuse(rate: &str, expected: &str) -> OptionError {
    Options::refuse("--subsample-rate", rate, expected)
}

/// What is drawn at random, by `--counts` and `--subsample-rate`.
pub(super) fn sampling(options: &Options) -> Result<Sampling, OptionError> {
    match (rate(options)?, options.flag("--counts")) {
        (None, false) => Ok(Sampling::Cells),
        (None, true) => Ok(Sampling::Counts),
        (Some(rate), false) => Ok(Sampling::Subsampled(rate)),
        (Some(rate), true) => Err(refuse(&rate.get().to_string(), "no --counts beside it: coins are tossed for items")),
    }
}

/// Refuses a rate beside settings that have no sample.
pub(super) fn check(settings: &Settings) -> Result<(), OptionError> {
    let Sampling::Subsampled(rate) = settings.sampling else { return Ok(()) };
    Sample::of(settings, rate).map(drop).map_err(|expected| refuse(&rate.get().to_string(), expected))
}

/// Adds both levels of a sample to settings in JSON.
pub(crate) fn describe(settings: &mut Value, rate: SampleRate, epsilon: Option<Epsilon>) {
    if let (Some(object), Some(epsilon)) = (settings.as_object_mut(), epsilon) {
        object.insert("rate".to_owned(), json!(rate.get()));
        object.insert("epsilon_if_key_known".to_owned(), json!(rate.inner_level(epsilon).get()));
    }
}

/// Settings that samples can be drawn of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    shape: PcsaShape,
    rate: SampleRate,
    epsilon: Epsilon,
    /// The merge that is estimated from, if any.
    form: Option<MergeForm>,
}

impl Sample {
    /// Or else in words what the settings would have to be.
    pub(super) fn of(settings: &Settings, rate: SampleRate) -> Result<Self, &'static str> {
        let SketchShape::Pcsa(shape) = settings.shape else { return Err("--sketch pcsa beside it") };
        let epsilon = settings.epsilon.ok_or("a number for --epsilon beside it")?;
        let form = match settings.merge {
            Merge::None => None,
            Merge::Extremal => Some(MergeForm::Extremal),
            Merge::Symmetric => Some(MergeForm::Symmetric),
            Merge::Xor | Merge::Tally | Merge::Joint => return Err("--merge extremal, symmetric or none beside it"),
        };
        if settings.n > MAX_ITEMS {
            return Err("2^32 items at most");
        }
        Ok(Self { shape, rate, epsilon, form })
    }

    pub(super) fn simulate(self, settings: &Settings, threads: Option<usize>) -> Result<Summary, SimulationError> {
        let predicted = self.predicted(settings)?;
        let plan = (settings.trials, settings.seed, threads);
        let truth = number::to_f64(settings.n);
        let one = |words: &mut Vec<u64>, noise: &mut InsecureTestRng| {
            let releases = self.releases(settings, words, noise)?;
            Ok(Trial::new(&self.answer(&releases, noise)?, truth))
        };
        Ok(Summary::new(settings.to_json(), &in_parallel(plan, || vec![0; BATCH], one)?, predicted))
    }

    /// The relative standard error to expect.
    pub(super) fn predicted(self, settings: &Settings) -> Result<f64, SimulationError> {
        Ok(predict::predicted_rse(settings, self.channel(settings)?)?)
    }

    /// The channel of what is estimated from. It does not depend on the data, so empty sketches tell it.
    fn channel(self, settings: &Settings) -> Result<BitChannel, SimulationError> {
        let noise = &mut InsecureTestRng::from_u64(settings.seed);
        let coins = SubsampleKey::draw(noise).sampler(self.rate);
        let empty = RawSubsampledPcsa::new(self.shape, DefaultHash::default(), coins.sampling());
        let releases = self.release(vec![empty; settings.parties as usize], noise)?;
        match self.form {
            Some(form) => Ok(merged(&releases, form, noise)?.sampled().channel()),
            None => Ok(releases.first().map_or(BitChannel::NOISELESS, |one| one.sampled().channel())),
        }
    }

    /// Releases of fresh items, sampled with a fresh key.
    fn releases(
        self,
        settings: &Settings,
        words: &mut [u64],
        noise: &mut InsecureTestRng,
    ) -> Result<Vec<SubsampledSfmSketch>, SimulationError> {
        let coins = SubsampleKey::draw(noise).sampler(self.rate);
        let empty: RawSubsampledPcsa = RawSubsampledPcsa::new(self.shape, DefaultHash::default(), coins.sampling());
        let throw = |sketch: &mut RawSubsampledPcsa, n| {
            let mut writer = sketch.writer(&coins).map_err(SubsampledMergeError::from)?;
            hashes(words, n, noise, |batch| writer.update_hashes(batch));
            Ok::<_, SubsampledMergeError>(())
        };
        let raw = build_by(&empty, settings, throw, RawSubsampledPcsa::merge)?;
        self.release(raw, noise)
    }

    fn release(
        self,
        raw: Vec<RawSubsampledPcsa>,
        noise: &mut InsecureTestRng,
    ) -> Result<Vec<SubsampledSfmSketch>, SimulationError> {
        let release = |one: RawSubsampledPcsa| one.release(Permit::standalone(self.epsilon), noise);
        Ok(raw.into_iter().map(release).collect::<Result<_, _>>()?)
    }

    fn answer(
        self,
        releases: &[SubsampledSfmSketch],
        noise: &mut InsecureTestRng,
    ) -> Result<Estimate, SimulationError> {
        match self.form {
            Some(form) => Ok(merged(releases, form, noise)?.estimate(CONFIDENCE)),
            None => Ok(subsampled_union_estimate(&releases.iter().collect::<Vec<_>>(), CONFIDENCE)?),
        }
    }
}

fn merged(
    releases: &[SubsampledSfmSketch],
    form: MergeForm,
    noise: &mut InsecureTestRng,
) -> Result<SubsampledSfmSketch, SubsampledMergeError> {
    SubsampledSfmSketch::merge_all(&releases.iter().collect::<Vec<_>>(), form, noise)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, OptionError> {
        Settings::parse(text.split_whitespace().map(str::to_owned)).map(|(settings, _, _)| settings)
    }

    const BASIC: &str = "--buckets 256 --levels 16 --n 1000 --subsample-rate 0.25";

    #[test]
    fn settings_without_a_sample_are_refused_by_name() {
        for (text, word) in [
            ("--epsilon 1 --counts", "--counts"),
            ("--epsilon 1 --merge tally", "--merge"),
            ("--epsilon 1 --merge joint", "--merge"),
            ("--epsilon 1 --merge xor", "--merge"),
            ("--epsilon inf", "--epsilon"),
        ] {
            let message = parse(&format!("{BASIC} {text}")).unwrap_err().to_string();
            assert!(message.contains("--subsample-rate") && message.contains(word), "{message}");
        }
        for text in ["--sketch linear --cells 100", "--sketch legions --cells 100 --decay 8"] {
            let message = parse(&format!("{text} --epsilon 1 --n 10 --subsample-rate 0.5")).unwrap_err().to_string();
            assert!(message.contains("pcsa"), "{message}");
        }
        for rate in ["0", "1", "-0.5", "NaN", "1e-10", "half"] {
            let text = format!("--buckets 256 --levels 16 --n 1000 --epsilon 1 --subsample-rate {rate}");
            assert!(parse(&text).unwrap_err().to_string().contains("--subsample-rate"), "{rate}");
        }
        let many = "--buckets 256 --levels 16 --n 1e12 --epsilon 1 --subsample-rate 0.5";
        assert!(parse(many).unwrap_err().to_string().contains("2^32"));
    }

    #[test]
    fn json_states_both_levels() {
        let json = parse(&format!("{BASIC} --epsilon 1")).unwrap().to_json();
        assert_eq!((&json["rate"], &json["epsilon"]), (&json!(0.25), &json!(1.0)));
        // ln(1 + (e − 1)/γ).
        let inner = (1.0 + 4.0 * 1.0_f64.exp_m1()).ln();
        assert!((json["epsilon_if_key_known"].as_f64().unwrap() - inner).abs() < 1e-9);
        let whole = parse("--buckets 256 --levels 16 --n 1000 --epsilon 1").unwrap().to_json();
        assert!(whole.get("rate").is_none() && whole.get("epsilon_if_key_known").is_none());
    }

    #[test]
    fn releases_have_the_stated_levels_and_the_items_of_their_sets() {
        let settings = parse(&format!("{BASIC} --epsilon 8 --parties 3 --overlap same")).unwrap();
        let Sampling::Subsampled(rate) = settings.sampling else { panic!("a sample") };
        let sample = Sample::of(&settings, rate).unwrap();
        let noise = &mut InsecureTestRng::from_u64(1);
        let releases = sample.releases(&settings, &mut [0; 64], noise).unwrap();
        assert_eq!(releases.len(), 3);
        for release in &releases {
            assert_eq!(release.sampling(), releases[0].sampling(), "one key");
            assert!((release.epsilon() - 8.0).abs() < 1e-12);
            let stated = settings.to_json()["epsilon_if_key_known"].as_f64().unwrap();
            assert!((release.epsilon_if_key_known() / stated - 1.0).abs() < 1e-9);
        }
        let other = sample.releases(&settings, &mut [0; 64], noise).unwrap();
        assert_ne!(other[0].sampling(), releases[0].sampling(), "a key for every trial");
    }

    #[test]
    fn predictions_join_the_error_at_the_inner_level_with_that_of_the_sample() {
        let settings = parse("--buckets 4096 --levels 24 --n 100000 --epsilon 1 --subsample-rate 0.0625").unwrap();
        let Sampling::Subsampled(rate) = settings.sampling else { panic!("a sample") };
        let got = Sample::of(&settings, rate).unwrap().predicted(&settings).unwrap();
        let inner = rate.inner_level(Epsilon::new(1.0).unwrap());
        let kept = Settings { sampling: Sampling::Cells, n: 6250, epsilon: Some(inner), ..settings.clone() };
        let want = super::super::run::predicted(&kept).unwrap().hypot((0.9375_f64 / 6250.0).sqrt());
        assert!((got / want - 1.0).abs() < 1e-9, "{got}, not {want}");
        // The product statistic of one sketch is near the likelihood, and of several the same rule holds.
        for parties in [2, 8] {
            let several = Settings { parties, merge: Merge::None, ..settings.clone() };
            let got = Sample::of(&several, rate).unwrap().predicted(&several).unwrap();
            let kept = Settings { parties, merge: Merge::None, n: 6400, ..kept.clone() };
            let of_kept = Settings { n: 102_400, ..several };
            let again = Sample::of(&of_kept, rate).unwrap().predicted(&of_kept).unwrap();
            let want = super::super::run::predicted(&kept).unwrap().hypot((0.9375_f64 / 6400.0).sqrt());
            assert!((again / want - 1.0).abs() < 1e-6, "{parties} sketches: {again}, not {want}");
            assert!((got / again - 1.0).abs() < 0.02);
        }
    }
}
