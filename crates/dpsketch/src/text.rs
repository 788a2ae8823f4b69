/// How text is cleaned before it is hashed.
///
/// In this order: white space at both ends is dropped (`trim`), text equal to `null` counts as missing, letters are turned
/// to lower case (`lowercase`, by Unicode's rules, the same in every language). With the defaults text stays as it is and
/// nothing is missing: an empty text is a value.
///
/// Parties whose sketches will be merged must use the same rules, or the same person counts twice.
///
/// # Examples
/// ```
/// use dpsketch::TextRules;
///
/// let rules = TextRules { trim: true, lowercase: true, null: Some("NA".to_owned()) };
/// let mut buffer = String::new();
/// assert_eq!(rules.apply("  Ann ", &mut buffer), Some("ann"));
/// assert_eq!(rules.apply(" NA", &mut buffer), None);
/// assert_eq!(rules.apply("", &mut buffer), Some(""));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextRules {
    /// Drop white space at both ends.
    pub trim: bool,
    /// Turn letters to lower case.
    pub lowercase: bool,
    /// The text that stands for a missing value.
    pub null: Option<String>,
}

impl TextRules {
    /// Whether text stays as it is.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        *self == Self::default()
    }

    /// The text to hash, or `None` for a missing value. `buffer` is scratch space, used again from call to call.
    #[must_use]
    pub fn apply<'a>(&self, text: &'a str, buffer: &'a mut String) -> Option<&'a str> {
        let text = if self.trim { text.trim() } else { text };
        if self.null.as_deref() == Some(text) {
            return None;
        }
        if !self.lowercase || text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
            return Some(text);
        }
        buffer.clear();
        if text.is_ascii() {
            buffer.push_str(text);
            buffer.make_ascii_lowercase();
        } else {
            // Not letter by letter: the Greek final sigma depends on what stands beside it.
            buffer.push_str(&text.to_lowercase());
        }
        Some(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(rules: &TextRules, text: &str) -> Option<String> {
        let mut buffer = String::from("left over");
        rules.apply(text, &mut buffer).map(str::to_owned)
    }

    #[test]
    fn without_rules_text_stays_as_it_is() {
        let rules = TextRules::default();
        assert!(rules.is_identity());
        for text in ["", " ", "NA", "Ünï  "] {
            assert_eq!(apply(&rules, text).as_deref(), Some(text));
        }
    }

    #[test]
    fn null_is_compared_after_trimming_and_before_lowering() {
        let rules = TextRules { trim: true, lowercase: true, null: Some("NA".into()) };
        assert_eq!(apply(&rules, "\u{a0}NA\t"), None);
        assert_eq!(apply(&rules, "na").as_deref(), Some("na"));
    }

    #[test]
    fn an_empty_null_text_makes_empty_values_missing() {
        let rules = TextRules { null: Some(String::new()), ..TextRules::default() };
        assert_eq!(apply(&rules, ""), None);
        assert_eq!(apply(&rules, " ").as_deref(), Some(" "));
    }

    #[test]
    fn lowering_follows_unicode() {
        let rules = TextRules { lowercase: true, ..TextRules::default() };
        assert_eq!(apply(&rules, "ABC9z").as_deref(), Some("abc9z"));
        assert_eq!(apply(&rules, "ΌΣΟΣ").as_deref(), Some("όσος"));
        assert_eq!(apply(&rules, "ÉCOLE").as_deref(), Some("école"));
    }
}
