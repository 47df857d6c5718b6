//! Analysis of a study's observations against its design.

use trainwright_design::Design;
use trainwright_stats::Intercept;
use trainwright_study::{Capacities, DesignKind, Factor, Observation, Study, TrialState};

use crate::bottleneck::{TrialUse, bottlenecks_of_study};
use crate::error::AnalysisError;
use crate::findings::{Finding, in_natural_units, info, sort, training, trials, warning};
use crate::fit::analysis::{Analysis, AnovaType};
use crate::fit::assemble::analyze;
use crate::fit::best::aliases::of_design;
use crate::fit::checks::curvature::curvature;
use crate::fit::fitted::Fitted;
use crate::fit::split_plot::strata_of;
use crate::model::balance::{is_balanced, one_a_source};
use crate::model::bend::{Bending, Points};
use crate::model::formula::{Formula, shorthand};
use crate::model::model_matrix::{Coding, Contrasts};
use crate::model::problem::{Cells, Grouping, Order, Problem};
use crate::model::variable::Variable;
use crate::questions::comparison::comparisons_so_far;
use crate::questions::surface::surface_of_study;

/// How to analyse a study.
#[derive(Debug, Clone)]
pub struct StudyOptions {
    /// How numbers enter the equation.
    pub coding: Coding,
    /// Analysis-of-variance tables to compute.
    pub types: Vec<AnovaType>,
    /// Logical cores of the machine that ran the trials, where it is known.
    pub machine_cores: Option<u32>,
    /// Trials by the command that they ran, the earliest first; one group where it never changed.
    pub commands: Vec<Vec<u32>>,
    /// Trials that somebody left out, with the reasons; they are not among the observations.
    pub excluded: Vec<(u32, String)>,
    /// What trials used of the machine, where it is known.
    pub uses: Vec<TrialUse>,
    /// What the machine that ran the trials can do, where it was measured.
    pub capacities: Option<Capacities>,
}

impl Default for StudyOptions {
    fn default() -> Self {
        Self {
            coding: Coding::Coded,
            types: vec![AnovaType::One, AnovaType::Two, AnovaType::Three],
            machine_cores: None,
            commands: Vec::new(),
            excluded: Vec::new(),
            uses: Vec::new(),
            capacities: None,
        }
    }
}

/// Fits a study's terms to its finished trials.
///
/// Diverged and failed trials are left out of the fit, and findings say so.
///
/// # Errors
/// No finished trial, terms that name no factor, an observation without its levels or metric,
/// or a response that cannot be fitted.
pub fn analyze_study(
    study: &Study,
    design: &Design,
    observations: &[Observation],
    options: &StudyOptions,
) -> Result<Analysis, AnalysisError> {
    let mut finished: Vec<&Observation> =
        observations.iter().filter(|o| o.state == TrialState::Finished).collect();
    if finished.is_empty() {
        return Err(AnalysisError::NothingFinished { observed: observations.len() });
    }
    finished.sort_by_key(|o| o.trial);
    let (problem, curves) = problem_of(study, design, &finished, options)?;
    let mut analysis = analyze(&problem)?;
    analysis.findings.extend(curves);
    analysis.findings.extend(blocks_taken_out(&problem));
    let centre: Vec<bool> =
        finished.iter().map(|o| o.row.is_some_and(|row| design.is_centre(row))).collect();
    if let Some(check) = curvature(&problem, &centre) {
        if check.holds == Some(false) {
            analysis.findings.push(warning("curvature", check.verdict.clone()));
        }
        analysis.checks.push(check);
    }
    if options.coding == Coding::Coded {
        let raw = Problem { coding: Coding::Raw, ..problem };
        let raw = Fitted::new(&raw)?.tested_in(strata_of(&raw)?);
        analysis.findings.extend(in_natural_units(&raw, study.analysis.alpha));
    }
    analysis.findings.extend(trials::findings(study, design, observations));
    analysis.findings.extend(trials::oversubscribed(study, options.machine_cores));
    analysis.findings.extend(trials::command_changed(&options.commands));
    analysis.findings.extend(trials::excluded(&options.excluded));
    analysis.findings.extend(training::of_study(study, &finished));
    let (bottlenecks, told) =
        bottlenecks_of_study(observations, &options.uses, options.capacities.as_ref());
    analysis.bottlenecks = bottlenecks;
    analysis.findings.extend(told);
    if matches!(study.design.kind, DesignKind::OneFactor { .. }) || study.factors.len() == 1 {
        analysis.comparisons = comparisons_so_far(study, observations)?;
    }
    analysis.surface = surface_of_study(study, observations)?;
    for finding in analysis.surface.iter().flat_map(|surface| &surface.findings) {
        if analysis.findings.iter().all(|own| own.id != finding.id) {
            analysis.findings.push(finding.clone());
        }
    }
    sort(&mut analysis.findings);
    Ok(analysis)
}

/// What a study asks to fit to its finished trials.
fn problem_of(
    study: &Study,
    design: &Design,
    finished: &[&Observation],
    options: &StudyOptions,
) -> Result<(Problem, Option<Finding>), AnalysisError> {
    let spec = &study.analysis;
    let StudyEquation { bending, term_names, intercept, response } =
        equation_of(study, design, finished)?;
    let curves = bending.told();
    let (balanced, cells) = match study.design.kind {
        // Without a design there are no rows that could be missing.
        DesignKind::Open => (balance_of_factors(&bending.variables), Cells::AsFound),
        _ => (Some(trials::rows_equally_observed(design, finished)), Cells::OfDesign),
    };
    let problem = Problem {
        response,
        logarithmic: false,
        formula: format!("{} ~ {}", spec.response, term_names.join(" + ")),
        y: responses(finished, &spec.response)?,
        variables: bending.variables,
        aliases: of_design(design, &bending.terms),
        terms: bending.terms,
        term_names,
        intercept,
        contrasts: Contrasts::Treatment,
        groupings: whole_plots(finished).into_iter().collect(),
        coding: options.coding,
        types: options.types.clone(),
        alpha: spec.alpha,
        direction: Some(study.direction()),
        range: study.response().range,
        labels: finished.iter().map(|o| label(o)).collect(),
        order: Order::Run,
        balanced,
        cells,
        points: points_of(study),
    };
    Ok((problem, curves))
}

/// Whether the factors' levels, whatever powers of them enter, were run equally often.
fn balance_of_factors(variables: &[Variable]) -> Option<bool> {
    is_balanced(&one_a_source(variables))
}

/// The right side of a study's equation.
pub(crate) struct StudyEquation {
    pub(crate) bending: Bending,
    pub(crate) term_names: Vec<String>,
    pub(crate) intercept: Intercept,
    /// The left side, as it enters the fit.
    pub(crate) response: String,
}

/// The equation of a study over some of its trials: blocks first, and factors that bend as far as
/// the trials allow where the terms are a shorthand.
pub(crate) fn equation_of(
    study: &Study,
    design: &Design,
    trials: &[&Observation],
) -> Result<StudyEquation, AnalysisError> {
    let spec = &study.analysis;
    let mut variables = variables(study, design, trials)?;
    let factors: Vec<String> = study.factors.iter().map(|f| f.name.clone()).collect();
    let bends = |own: &&Variable| own.is_numeric() && own.observed_levels() > 2;
    let bending: Vec<String> = variables.iter().filter(bends).map(|v| v.name.clone()).collect();
    let formula = Formula::from_terms(&spec.response, &spec.terms, &factors, &bending)?;
    variables.extend(blocks(trials));
    let mut terms = place_terms(&formula, &mut variables, &spec.terms)?;
    add_blocks(&variables, &mut terms);
    let bending = match shorthand(&spec.terms) {
        Some(_) => Bending::of(variables, terms, points_of(study)),
        None => Bending::straight(variables, terms),
    };
    let name = |term: &Vec<usize>| {
        let names: Vec<&str> = term.iter().map(|&v| bending.variables[v].name.as_str()).collect();
        names.join(":")
    };
    let term_names = bending.terms.iter().map(name).collect();
    let (intercept, response) = (formula.intercept, formula.response_name());
    Ok(StudyEquation { bending, term_names, intercept, response })
}

fn points_of(study: &Study) -> Points {
    match study.design.kind {
        DesignKind::LatinHypercube { .. } | DesignKind::Sobol { .. } => Points::FillingSpace,
        _ => Points::OnLevels,
    }
}

/// Whole plots, between which hard-to-change factors were set anew.
pub(crate) fn whole_plots(finished: &[&Observation]) -> Option<Grouping> {
    let plots: Vec<u32> = finished.iter().map(|o| o.whole_plot).collect::<Option<_>>()?;
    let mut distinct = plots.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let place = |plot: &u32| distinct.partition_point(|own| own < plot);
    Some(Grouping { name: "whole plot".to_owned(), groups: plots.iter().map(place).collect() })
}

fn responses(finished: &[&Observation], metric: &str) -> Result<Vec<f64>, AnalysisError> {
    let value = |o: &&Observation| {
        o.values.get(metric).copied().ok_or_else(|| AnalysisError::MissingMetric {
            trial: o.trial,
            metric: metric.to_owned(),
        })
    };
    finished.iter().map(value).collect()
}

/// The block of every observation; nothing where one has none, or all have the same.
fn blocks(finished: &[&Observation]) -> Option<Variable> {
    let blocks: Vec<u32> = finished.iter().map(|o| o.block).collect::<Option<_>>()?;
    let several = blocks.iter().any(|own| *own != blocks[0]);
    several.then(|| Variable::from_blocks(&blocks))
}

/// Says that the blocks are a term, which the study did not ask for in so many words.
fn blocks_taken_out(problem: &Problem) -> Option<Finding> {
    let block = problem.variables.iter().position(Variable::is_block)?;
    let count = problem.variables[block].levels.len();
    let text = format!(
        "the runs were made in {count} blocks, and the block is a term of the equation: what differs \
         between blocks is taken out of the noise, and its line in the tables tells of no factor"
    );
    problem.terms.contains(&vec![block]).then(|| info("blocks", text))
}

/// Puts the blocks first, unless the terms name them: they take up differences that would else
/// count as noise.
fn add_blocks(variables: &[Variable], terms: &mut Vec<Vec<usize>>) {
    let block = variables.iter().position(Variable::is_block);
    if let Some(index) = block.filter(|&index| !terms.contains(&vec![index])) {
        terms.insert(0, vec![index]);
    }
}

fn variables(
    study: &Study,
    design: &Design,
    finished: &[&Observation],
) -> Result<Vec<Variable>, AnalysisError> {
    let of_factor = |(place, factor): (usize, &Factor)| {
        let observed: Vec<_> = finished
            .iter()
            .map(|o| (o.trial, o.configuration.get_at(place, &factor.name)))
            .collect();
        Variable::from_factor(factor, &design.further_levels(factor), &observed)
    };
    study.factors.iter().enumerate().map(of_factor).collect()
}

/// Terms as positions among the variables, to which the squares that they name are added.
fn place_terms(
    formula: &Formula,
    variables: &mut Vec<Variable>,
    terms: &str,
) -> Result<Vec<Vec<usize>>, AnalysisError> {
    let known: Vec<String> = variables.iter().map(|own| own.name.clone()).collect();
    let mut places = Vec::with_capacity(formula.variables.len());
    for name in &formula.variables {
        let place = variables.iter().position(|own| own.name == *name).or_else(|| {
            let (factor, exponent) = power_of(name)?;
            let square = variables.iter().find(|own| own.name == factor)?.power(name, exponent)?;
            variables.push(square);
            Some(variables.len() - 1)
        });
        places.push(place.ok_or_else(|| AnalysisError::UnknownFactor {
            terms: terms.to_owned(),
            name: name.clone(),
            known: known.join(", "),
        })?);
    }
    Ok(formula.terms.iter().map(|term| term.iter().map(|&v| places[v]).collect()).collect())
}

/// The factor whose power a name such as `I(lr^2)` is, and the exponent.
fn power_of(name: &str) -> Option<(&str, i32)> {
    let (factor, power) = name.strip_prefix("I(")?.strip_suffix(')')?.rsplit_once('^')?;
    let exponent = power.trim().parse().ok().filter(|own| *own > 1)?;
    Some((factor.trim().trim_matches('`'), exponent))
}

fn label(observation: &Observation) -> String {
    let (trial, replicate) = (observation.trial, observation.replicate);
    match observation.row {
        Some(row) => format!("trial {trial} (row {row}, replicate {replicate})"),
        None => format!("trial {trial}"),
    }
}
