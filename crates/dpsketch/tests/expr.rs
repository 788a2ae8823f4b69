//! Set formulas against plain sets, region by region and as sums of unions.

use dpsketch::{ErrorKind, ExprError, MAX_SETS, SetFormula, is_set_name};
use proptest::prelude::*;

const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// A formula as a tree, evaluated without any of the parser's code.
#[derive(Clone, Debug)]
enum Tree {
    Set(usize),
    Not(Box<Tree>),
    Binary(char, Box<Tree>, Box<Tree>),
}

impl Tree {
    /// The items of the formula, as bits; `world` is everything in some named set.
    fn items(&self, sets: &[u64], world: u64) -> u64 {
        match self {
            Self::Set(index) => sets[*index],
            Self::Not(inner) => world & !inner.items(sets, world),
            Self::Binary(sign, left, right) => {
                let (left, right) = (left.items(sets, world), right.items(sets, world));
                match sign {
                    '&' => left & right,
                    '-' => left & !right,
                    '^' => left ^ right,
                    '|' => left | right,
                    other => unreachable!("{other}"),
                }
            }
        }
    }

    fn tightness(&self) -> u8 {
        match self {
            Self::Binary('|', ..) => 0,
            Self::Binary('^', ..) => 1,
            Self::Binary(..) => 2,
            _ => 3,
        }
    }

    /// With no more parentheses than needed.
    fn print(&self) -> String {
        let within = |tree: &Self, least: u8| {
            if tree.tightness() >= least { tree.print() } else { format!("({})", tree.print()) }
        };
        match self {
            Self::Set(index) => NAMES[*index].to_owned(),
            Self::Not(inner) => format!("!{}", within(inner, 3)),
            Self::Binary(sign, left, right) => {
                let own = self.tightness();
                format!("{} {sign} {}", within(left, own), within(right, own + 1))
            }
        }
    }
}

fn trees(sets: usize) -> impl Strategy<Value = Tree> {
    (0..sets).prop_map(Tree::Set).prop_recursive(5, 24, 2, |inner| {
        let sign = prop::sample::select(vec!['&', '-', '^', '|']);
        prop_oneof![
            1 => inner.clone().prop_map(|tree| Tree::Not(Box::new(tree))),
            4 => (sign, inner.clone(), inner).prop_map(|(sign, left, right)| {
                Tree::Binary(sign, Box::new(left), Box::new(right))
            }),
        ]
    })
}

/// The size of the formula by its regions and by its unions.
fn sizes(formula: &SetFormula, sets: &[u64]) -> (i64, i64) {
    let used: Vec<u64> = formula.positions().iter().map(|position| sets[*position]).collect();
    let by_regions = (0..64)
        .filter(|item| {
            let region = used.iter().enumerate().map(|(bit, set)| u32::from(set >> item & 1 == 1) << bit).sum();
            formula.contains(region)
        })
        .count();
    let by_unions = formula.union_terms().iter().map(|term| {
        let members = used.iter().enumerate().filter(|(bit, _)| term.members >> bit & 1 == 1);
        term.coefficient * i64::from(members.fold(0, |union, (_, set)| union | set).count_ones())
    });
    (i64::try_from(by_regions).expect("at most 64"), by_unions.sum())
}

/// Sets in which item `A` lies in exactly the sets whose bit is one in `A`, so that every region has one item.
fn one_item_a_region(sets: usize) -> Vec<u64> {
    (0..sets)
        .map(|set| (0..1_u64 << sets).filter(|region| region >> set & 1 == 1).map(|region| 1 << region).sum())
        .collect()
}

proptest! {
    #[test]
    fn any_formula_agrees_with_plain_sets(tree in trees(8), sets in prop::collection::vec(any::<u64>(), 8)) {
        let text = tree.print();
        let formula = SetFormula::parse(&text, &NAMES).unwrap();
        let world = sets.iter().fold(0, |union, set| union | set);
        let expected = i64::from(tree.items(&sets, world).count_ones());
        prop_assert_eq!(sizes(&formula, &sets), (expected, expected), "{}", text);
    }

    #[test]
    fn every_region_is_decided_as_by_hand(tree in trees(6)) {
        // Six sets have 64 regions: each is one item of a 64-bit world.
        let sets = one_item_a_region(6);
        let items = tree.items(&sets, !1);
        let formula = SetFormula::parse(&tree.print(), &NAMES[..6]).unwrap();
        for region in 1..64_u32 {
            let seen = formula.positions().iter().enumerate().map(|(bit, set)| (region >> set & 1) << bit).sum();
            prop_assert_eq!(formula.contains(seen), items >> region & 1 == 1, "{} in region {}", tree.print(), region);
        }
    }

    #[test]
    fn groups_are_sets_of_which_only_the_union_matters(tree in trees(5)) {
        let sets = one_item_a_region(5);
        let items = tree.items(&sets, !1);
        let formula = SetFormula::parse(&tree.print(), &NAMES[..5]).unwrap();
        let groups = formula.groups();
        let mut members: Vec<usize> = groups.concat();
        members.sort_unstable();
        prop_assert_eq!(members, (0..formula.names().len()).collect::<Vec<_>>());
        let together = |first: usize, second: usize| groups.iter().any(|group| group.contains(&first) && group.contains(&second));
        for (first, second) in (0..formula.names().len()).flat_map(|second| (0..second).map(move |first| (first, second))) {
            // Both sets become their union: the formula stays as it is exactly if nothing else of them matters.
            let [a, b] = [first, second].map(|set| formula.positions()[set]);
            let mut joined = sets.clone();
            (joined[a], joined[b]) = (sets[a] | sets[b], sets[a] | sets[b]);
            prop_assert_eq!(tree.items(&joined, !1) == items, together(first, second), "{}: {:?}", tree.print(), groups);
        }
    }

    #[test]
    fn only_sets_that_matter_are_kept(tree in trees(6)) {
        let sets = one_item_a_region(6);
        let items = tree.items(&sets, !1);
        let matters = |set: usize| (0..64).any(|region| {
            let other = region ^ 1 << set;
            (items >> region ^ items >> other) & 1 == 1
        });
        let expected: Vec<usize> = (0..6).filter(|set| matters(*set)).collect();
        let formula = SetFormula::parse(&tree.print(), &NAMES[..6]).unwrap();
        prop_assert_eq!(formula.positions(), &expected[..], "{}", tree.print());
        let mentioned = formula.union_terms().iter().fold(0, |all, term| all | term.members);
        prop_assert_eq!(mentioned, (1 << expected.len()) - 1);
    }

    #[test]
    fn no_text_panics(text in "[ab()!&^|\\- \u{e9}0-9.,]{0,40}") {
        if let Err(error) = SetFormula::parse(&text, &NAMES) {
            let position = error.position().unwrap_or(1);
            prop_assert!((1..=text.chars().count() + 1).contains(&position));
            prop_assert_eq!(error.explain(&text).kind(), ErrorKind::Parameter);
        }
    }
}

#[test]
fn signs_bind_in_the_documented_order() {
    for (text, same) in [
        ("a | b & c", "a | (b & c)"),
        ("a & b | c", "(a & b) | c"),
        ("a | b ^ c", "a | (b ^ c)"),
        ("a ^ b & c", "a ^ (b & c)"),
        ("a - b & c", "(a - b) & c"),
        ("a & b - c", "(a & b) - c"),
        ("a - b - c", "(a - b) - c"),
        ("!a & b", "(!a) & b"),
        ("!!a", "a"),
        ("a ^ b - c | d", "(a ^ (b - c)) | d"),
    ] {
        assert_eq!(SetFormula::parse(text, &NAMES), SetFormula::parse(same, &NAMES), "{text}");
    }
    assert_ne!(SetFormula::parse("a - b - c", &NAMES), SetFormula::parse("a - (b - c)", &NAMES));
    assert_ne!(SetFormula::parse("a - b & c", &NAMES), SetFormula::parse("a - (b & c)", &NAMES));
}

#[test]
fn a_complement_is_taken_within_all_named_sets() {
    let formula = SetFormula::parse("!a", &["a", "b", "c"]).unwrap();
    assert_eq!(formula.names(), ["a", "b", "c"]);
    assert_eq!(formula.regions().collect::<Vec<_>>(), [0b010, 0b100, 0b110]);
    // |!a| = |a ∪ b ∪ c| − |a|
    let terms: Vec<_> = formula.union_terms().iter().map(|term| (term.members, term.coefficient)).collect();
    assert_eq!(terms, [(0b001, -1), (0b111, 1)]);
    assert!(SetFormula::parse("!a", &["a"]).unwrap().is_empty());
}

#[test]
fn textbook_formulas_have_their_textbook_terms() {
    let terms = |text| {
        let formula = SetFormula::parse(text, &NAMES[..3]).unwrap();
        formula.union_terms().iter().map(|term| (term.members, term.coefficient)).collect::<Vec<_>>()
    };
    assert_eq!(terms("a"), [(1, 1)]);
    assert_eq!(terms("a & b"), [(1, 1), (2, 1), (3, -1)]);
    assert_eq!(terms("a ^ b"), [(1, -1), (2, -1), (3, 2)]);
    assert_eq!(terms("a & b & c"), [(1, 1), (2, 1), (3, -1), (4, 1), (5, -1), (6, -1), (7, 1)]);
    assert_eq!(terms("a | b & a"), [(1, 1)]);
    assert_eq!(terms("a - a"), []);
}

#[test]
fn many_named_sets_are_fine_while_few_matter() {
    let names: Vec<String> = (0..100).map(|number| format!("site{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let formula = SetFormula::parse("site99 & site3 - site50", &names).unwrap();
    assert_eq!(formula.positions(), [3, 50, 99]);
    assert_eq!(formula.regions().collect::<Vec<_>>(), [0b101]);
    assert_eq!(SetFormula::parse("!site1", &names), Err(ExprError::TooManySets { found: 100 }));
    let nine = names[..=MAX_SETS].join("|");
    assert_eq!(SetFormula::parse(&nine, &names), Err(ExprError::TooManySets { found: 9 }));
}

#[test]
fn errors_point_at_the_character() {
    for (text, position, found) in [
        ("", 1, "the end"),
        ("a &", 4, "the end"),
        ("a & | b", 5, "'|'"),
        ("a && b", 4, "'&'"),
        ("(a | b", 7, "the end"),
        ("a b", 3, "\"b\""),
        ("é", 1, ""),
        ("a | (b))", 8, "')'"),
        ("a, b", 2, "','"),
        ("a | bc", 5, ""),
    ] {
        let error = SetFormula::parse(text, &NAMES).unwrap_err();
        assert_eq!(error.position(), Some(position), "{text}");
        match error {
            ExprError::Unexpected { found: seen, .. } => assert_eq!(seen, found, "{text}"),
            ExprError::UnknownName { .. } => assert_eq!(found, "", "{text}"),
            other => panic!("{text}: {other}"),
        }
    }
    let explained = SetFormula::parse("a & | b", &NAMES).unwrap_err().explain("a & | b");
    assert_eq!(
        explained.to_text(),
        "expected a set name, '!' or '(' at character 5, found '|'\n  allowed: names joined by & - ^ |, with ! before \
         a name and parentheses, such as 'a & !(b | c)'\n  hint: the trouble starts at \"| b\""
    );
}

#[test]
fn length_and_depth_are_bounded() {
    let long = format!("a{}", " | a".repeat(1024));
    assert_eq!(SetFormula::parse(&long, &NAMES), Err(ExprError::TooLong { found: 4097 }));
    assert!(SetFormula::parse(&long[..4093], &NAMES).is_ok());
    let nested = |levels: usize| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
    assert!(SetFormula::parse(&nested(64), &NAMES).is_ok());
    assert_eq!(SetFormula::parse(&nested(65), &NAMES), Err(ExprError::TooDeep { position: 65 }));
    assert_eq!(SetFormula::parse(&"!".repeat(4000), &NAMES), Err(ExprError::TooDeep { position: 65 }));
}

#[test]
fn names_that_cannot_be_written_are_refused() {
    for name in ["", "a b", "a-b", "(", "a\n", &"x".repeat(65)] {
        assert!(!is_set_name(name), "{name:?}");
        let error = SetFormula::parse("a", &["a", name]).unwrap_err();
        assert!(matches!(error, ExprError::InvalidName { number: 2, .. }), "{name:?}: {error}");
    }
    assert_eq!(SetFormula::parse("a", &["a", "a"]), Err(ExprError::RepeatedName { name: "a".into() }));
    assert!(SetFormula::parse("größe.2024 | 7", &["größe.2024", "7"]).is_ok());
}
