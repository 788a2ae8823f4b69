//! From text to a postfix program over the named sets.

use std::collections::BTreeMap;

use super::error::quoted_name;
use super::{ExprError, MAX_DEPTH, MAX_FORMULA_BYTES, is_name_char};

/// One step of the program: puts a set on the stack, or replaces the top one or two entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The set with this position in the list of names.
    Set(usize),
    Not,
    And,
    Minus,
    Xor,
    Or,
}

/// What may stand where an operand starts.
const OPERAND: &str = "a set name, '!' or '('";
/// What may stand after an operand.
const OPERATOR: &str = "an operator (& - ^ |) or the end";
const CLOSING: &str = "an operator (& - ^ |) or ')'";

/// Binary operators, loosest first. Those of one row bind equally and are taken from left to right.
const LEVELS: [&[(char, Step)]; 3] = [&[('|', Step::Or)], &[('^', Step::Xor)], &[('&', Step::And), ('-', Step::Minus)]];

pub(super) fn parse(text: &str, names: &BTreeMap<&str, usize>) -> Result<Vec<Step>, ExprError> {
    if text.len() > MAX_FORMULA_BYTES {
        return Err(ExprError::TooLong { found: text.len() });
    }
    let mut parser = Parser { rest: text, position: 1, depth: 0, names, program: Vec::new() };
    parser.binary(0)?;
    if parser.peek().is_some() {
        return Err(parser.unexpected(OPERATOR));
    }
    Ok(parser.program)
}

struct Parser<'a> {
    rest: &'a str,
    /// Of the first character of `rest`, counted from 1.
    position: usize,
    depth: usize,
    names: &'a BTreeMap<&'a str, usize>,
    program: Vec<Step>,
}

impl<'a> Parser<'a> {
    /// Operands joined by operators of this level and tighter ones.
    fn binary(&mut self, level: usize) -> Result<(), ExprError> {
        let Some(operators) = LEVELS.get(level) else {
            return self.operand();
        };
        self.binary(level + 1)?;
        while let Some((_, step)) = operators.iter().find(|(sign, _)| self.peek() == Some(*sign)) {
            self.advance(1);
            self.binary(level + 1)?;
            self.program.push(*step);
        }
        Ok(())
    }

    /// A name, a negation or something in parentheses.
    fn operand(&mut self) -> Result<(), ExprError> {
        match self.peek() {
            Some('!') => self.nested(|parser| {
                parser.operand()?;
                parser.program.push(Step::Not);
                Ok(())
            }),
            Some('(') => self.nested(|parser| {
                parser.binary(0)?;
                if parser.peek() != Some(')') {
                    return Err(parser.unexpected(CLOSING));
                }
                parser.advance(1);
                Ok(())
            }),
            Some(first) if is_name_char(first) => {
                let name = self.word();
                let Some(set) = self.names.get(name) else {
                    return Err(ExprError::UnknownName { position: self.position, name: quoted_name(name) });
                };
                self.program.push(Step::Set(*set));
                self.advance(name.chars().count());
                Ok(())
            }
            _ => Err(self.unexpected(OPERAND)),
        }
    }

    /// Goes one sign on and one level down. The limit keeps the recursion off the end of the stack.
    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Result<(), ExprError>) -> Result<(), ExprError> {
        if self.depth == MAX_DEPTH {
            return Err(ExprError::TooDeep { position: self.position });
        }
        self.depth += 1;
        self.advance(1);
        inner(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// The next character that is no white space.
    fn peek(&mut self) -> Option<char> {
        let spaces = self.rest.chars().take_while(|character| character.is_whitespace()).count();
        self.advance(spaces);
        self.rest.chars().next()
    }

    fn advance(&mut self, characters: usize) {
        let bytes: usize = self.rest.chars().take(characters).map(char::len_utf8).sum();
        self.rest = &self.rest[bytes..];
        self.position += characters;
    }

    /// The name that starts here.
    fn word(&self) -> &'a str {
        let end = self.rest.find(|character| !is_name_char(character)).unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    fn unexpected(&mut self, expected: &'static str) -> ExprError {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(first) if is_name_char(first) => format!("{:?}", quoted_name(self.word())),
            Some(sign) => format!("{sign:?}"),
        };
        ExprError::Unexpected { position: self.position, expected, found }
    }
}
