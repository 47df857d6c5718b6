//! Reads generators such as `F=ABCDE`, `F=-ABC` or `batch = nodes*executors`.
//!
//! A generator defines one factor as a signed product of others. Letters stand for positions in
//! the list of factors; names are written with `*` between them.

use crate::error::{DesignError, GeneratorProblem as Problem};
use crate::two_level::word::{LETTERS, Word, position};

/// A factor defined as a product of base factors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Definition {
    pub(crate) factor: usize,
    pub(crate) product: Word,
}

/// Reads generators and puts them into each other until only base factors are left.
pub(crate) fn read_generators<S: AsRef<str>>(
    names: &[String],
    generators: &[S],
) -> Result<Vec<Definition>, DesignError> {
    let fault = |index: usize, problem| DesignError::Generator {
        index,
        generator: generators[index].as_ref().to_owned(),
        problem,
    };
    let mut definitions: Vec<Definition> = Vec::new();
    for (index, generator) in generators.iter().enumerate() {
        let read = read_one(names, generator.as_ref()).map_err(|problem| fault(index, problem))?;
        if let Some(first) = definitions.iter().position(|d| d.factor == read.factor) {
            let factor = names[read.factor].clone();
            let other = generators[first].as_ref().to_owned();
            return Err(fault(index, Problem::DefinedTwice { factor, other }));
        }
        definitions.push(read);
    }
    resolve(&mut definitions).map_err(|index| {
        let factor = names[definitions[index].factor].clone();
        fault(index, Problem::Circular { factor })
    })?;
    match find_confounded(names, &definitions) {
        Some((index, problem)) => Err(fault(index, problem)),
        None => Ok(definitions),
    }
}

/// Reads an effect such as `ABC` or `lr*batch`.
pub(crate) fn read_effect(names: &[String], effect: &str) -> Result<Word, Problem> {
    let (sign, side) = split_sign(effect)?;
    let mut product = Word { mask: 0, sign };
    for index in factors_in(names, side)? {
        if product.holds(index) {
            return Err(Problem::Repeats { factor: names[index].clone() });
        }
        product = product.times(Word::of_factor(index));
    }
    Ok(product)
}

fn read_one(names: &[String], generator: &str) -> Result<Definition, Problem> {
    let (left, right) = generator.split_once('=').ok_or(Problem::Malformed)?;
    let (left_sign, left) = split_sign(left)?;
    let (right_sign, right) = split_sign(right)?;
    let &[factor] = factors_in(names, left)?.as_slice() else { return Err(Problem::Malformed) };
    let mut product = Word { mask: 0, sign: left_sign * right_sign };
    for index in factors_in(names, right)? {
        if index == factor || product.holds(index) {
            return Err(Problem::Repeats { factor: names[index].clone() });
        }
        product = product.times(Word::of_factor(index));
    }
    Ok(Definition { factor, product })
}

fn split_sign(side: &str) -> Result<(i8, &str), Problem> {
    let side = side.trim();
    let (sign, rest) = match side.strip_prefix('-') {
        Some(rest) => (-1, rest.trim_start()),
        None => (1, side.strip_prefix('+').map_or(side, str::trim_start)),
    };
    if rest.is_empty() { Err(Problem::Malformed) } else { Ok((sign, rest)) }
}

/// The factors of one side: names joined by `*`, one name, or a run of letters.
fn factors_in(names: &[String], side: &str) -> Result<Vec<usize>, Problem> {
    if side.contains('*') {
        return side.split('*').map(|name| named(names, name.trim())).collect();
    }
    if side.len() > 1 && names.iter().any(|name| name == side) {
        return Ok(vec![named(names, side)?]);
    }
    side.chars().map(|letter| lettered(names, letter, side)).collect()
}

fn named(names: &[String], name: &str) -> Result<usize, Problem> {
    if name.is_empty() {
        return Err(Problem::Malformed);
    }
    if let Some(index) = names.iter().position(|own| own == name) {
        return Ok(index);
    }
    let mut letters = name.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) => lettered(names, letter, name),
        _ => Err(unknown(names, name)),
    }
}

fn lettered(names: &[String], letter: char, side: &str) -> Result<usize, Problem> {
    let by_name = names.iter().position(|name| name.chars().eq([letter]));
    let by_letter = position(letter).filter(|&index| index < names.len());
    match (by_name, by_letter) {
        (Some(index), Some(other)) if index != other => {
            Err(Problem::AmbiguousLetter { letter, other: names[other].clone() })
        }
        (Some(index), _) | (None, Some(index)) => Ok(index),
        // A mistyped name is easier to recognise whole than by its first letter.
        (None, None) if side.chars().all(|c| position(c).is_some()) => {
            Err(unknown(names, &letter.to_string()))
        }
        (None, None) => Err(unknown(names, side)),
    }
}

fn unknown(names: &[String], name: &str) -> Problem {
    let known: Vec<_> = names
        .iter()
        .zip(LETTERS)
        .map(|(own, letter)| match own.chars().eq([letter]) {
            true => own.clone(),
            false => format!("{letter} ({own})"),
        })
        .collect();
    Problem::UnknownFactor { name: name.to_owned(), known: known.join(", ") }
}

/// Replaces defined factors in products by their own products; fails with one that never ends.
fn resolve(definitions: &mut [Definition]) -> Result<(), usize> {
    let defined = definitions.iter().fold(0, |mask, d| mask | 1u32 << d.factor);
    loop {
        let open: Vec<_> = (0..definitions.len())
            .filter(|&index| definitions[index].product.mask & defined != 0)
            .collect();
        let Some(&first) = open.first() else { return Ok(()) };
        let mut progress = false;
        for &index in &open {
            for other in 0..definitions.len() {
                let Definition { factor, product } = definitions[other];
                if definitions[index].product.holds(factor) && product.mask & defined == 0 {
                    let own = &mut definitions[index].product;
                    *own = own.times(Word::of_factor(factor)).times(product);
                    progress = true;
                }
            }
        }
        if !progress {
            return Err(first);
        }
    }
}

/// The first generator whose column is constant or repeats another column.
fn find_confounded(names: &[String], definitions: &[Definition]) -> Option<(usize, Problem)> {
    definitions.iter().enumerate().find_map(|(index, own)| {
        let factor = names[own.factor].clone();
        if own.product.mask == 0 {
            return Some((index, Problem::Constant { factor }));
        }
        let copied = match own.product.length() {
            1 => Some(own.product.mask.trailing_zeros() as usize),
            _ => definitions[..index]
                .iter()
                .find(|other| other.product.mask == own.product.mask)
                .map(|other| other.factor),
        };
        copied.map(|other| (index, Problem::Copies { factor, other: names[other].clone() }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["nodes", "executors", "lr", "batch", "epochs"];

    fn read(generators: &[&str]) -> Result<Vec<Definition>, DesignError> {
        read_generators(&NAMES.map(str::to_owned), generators)
    }

    #[track_caller]
    fn check(generator: &str, factor: usize, mask: u32, sign: i8) {
        let product = Word { mask, sign };
        assert_eq!(read(&[generator]).unwrap(), [Definition { factor, product }], "{generator}");
    }

    #[track_caller]
    fn check_fault(generators: &[&str], expected: &str) {
        assert_eq!(read(generators).unwrap_err().to_string(), expected);
    }

    #[test]
    fn letters_and_names_mean_the_same() {
        check("D=ABC", 3, 0b111, 1);
        check(" D = -ABC ", 3, 0b111, -1);
        check("-D=ABC", 3, 0b111, -1);
        check("-D=-ABC", 3, 0b111, 1);
        check("batch = nodes*executors*lr", 3, 0b111, 1);
        check("batch = -nodes * lr", 3, 0b101, -1);
        check("batch = A*C", 3, 0b101, 1);
        check("nodes = BC", 0, 0b110, 1);
    }

    #[test]
    fn a_generator_may_use_what_another_defines() {
        let definitions = read(&["E=-AD", "D=BC"]).unwrap();
        assert_eq!(definitions[0].product, Word { mask: 0b111, sign: -1 });
        assert_eq!(definitions[1].product, Word { mask: 0b110, sign: 1 });
    }

    #[test]
    fn faults_name_the_generator_and_the_reason() {
        let form = "does not read as `F=ABC` or `factor = factor*factor`";
        for bad in ["DABC", "D=", "=ABC", "DE=ABC", "D=A**B", "D=*", "D=-"] {
            check_fault(&[bad], &format!("generator `{bad}` {form}"));
        }
        check_fault(
            &["D=ABX"],
            "generator `D=ABX` names `X`, which is neither a factor nor the letter of one",
        );
        check_fault(
            &["batch = nodse*lr"],
            "generator `batch = nodse*lr` names `nodse`, which is neither a factor nor the letter \
             of one",
        );
        check_fault(&["D=ABA"], "generator `D=ABA` names `nodes` twice");
        check_fault(&["D=ABD"], "generator `D=ABD` names `batch` twice");
        check_fault(
            &["D=AB", "D=BC"],
            "generator `D=BC` defines `batch`, which `D=AB` defines already",
        );
        check_fault(&["D=AE", "E=BD"], "generator `D=AE` defines `batch` in a circle");
        check_fault(
            &["D=AB", "E=-AB"],
            "generator `E=-AB` moves `epochs` together with `batch` in all rows, so neither can \
             be estimated",
        );
        check_fault(
            &["D=A"],
            "generator `D=A` moves `batch` together with `nodes` in all rows, so neither can be \
             estimated",
        );
        check_fault(
            &["D=AB", "C=AB", "E=DC"],
            "generator `C=AB` moves `lr` together with `batch` in all rows, so neither can be \
             estimated",
        );
    }

    #[test]
    fn a_letter_that_is_another_factors_name_is_ambiguous() {
        let names = ["B", "A", "C"].map(str::to_owned);
        let fault = read_generators(&names, &["C=AB"]).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "generator `C=AB` is ambiguous: `A` is a factor, and also the letter of `B`"
        );
        assert!(read_generators(&names, &["C=A*B"]).is_ok());
    }
}
