//! Divides an experiment into its variants, each of which becomes a run of its own.

use std::sync::Arc;

use cobalt_core::experiment_name::matches_name;
use cobalt_core::redact::{redact_texts, redacted};
use cobalt_core::report::RunVariant;
use cobalt_core::store::derive_id;
use cobalt_core::wording;

use super::plan::Plan;
use crate::config::VariantSelection;
use crate::experiment::{Declaration, Experiment, Prepared, ResolvedVariant, Variant};
use crate::tools::Faults;

/// The field of a variant's settings with its fault plan.
const FAULTS: &str = "faults";

/// The selected variants of an experiment; the experiment itself if it has none. None if the selection is for other experiments.
///
/// # Errors
///
/// The variants, or the changes of their settings, are invalid.
pub fn divide_into_variants(
    prepared: Prepared,
    selection: &VariantSelection,
    group: &str,
) -> Result<Vec<Prepared>, String> {
    let declaration = &prepared.experiment.declaration;
    let declared = declaration.variants.list();
    declaration.variants.validate()?;
    check_names(declaration)?;
    if declared.is_empty() {
        return Ok(if selection.is_all() { vec![prepared] } else { Vec::new() });
    }
    let is_default = |variant: &Variant| declaration.default_variant.as_ref() == Some(&variant.name);
    let selected: Vec<_> = match (&selection.names[..], &selection.changes[..]) {
        ([], []) => declared.iter().collect(),
        ([], _) => {
            declared.iter().find(|variant| is_default(variant)).or(declared.first()).into_iter().collect()
        }
        (names, _) => {
            declared.iter().filter(|it| names.iter().any(|name| matches_name(name, &it.name))).collect()
        }
    };
    let resolve = |(position, variant): (usize, &Variant)| {
        let changed = change_settings(variant, is_default(variant), selection)?;
        if let Some(Err(error)) = declaration.variant_check.map(|check| check(&changed.settings)) {
            return Err(format!(
                "the settings of variant `{}` do not match the type of the function's parameter: {error}",
                changed.name
            ));
        }
        let faults = changed.settings.get(FAULTS).map(Faults::of_setting).transpose();
        let faults = faults.map_err(|problem| format!("variant `{}`: {problem}", changed.name))?;
        let resolved = ResolvedVariant {
            experiment: declaration.name.clone(),
            is_default: is_default(variant) && changed == *variant,
            declared_name: variant.name.clone(),
            name: changed.name,
            group: group.to_owned(),
            position,
            settings: Arc::new(changed.settings),
        };
        Ok((resolved, faults))
    };
    let resolved =
        declared.iter().enumerate().filter(|(_, variant)| selected.iter().any(|it| it.name == variant.name));
    let resolved: Result<Vec<_>, String> = resolved.map(resolve).collect();
    Ok(resolved?.into_iter().map(|(variant, faults)| of_variant(&prepared, variant, faults)).collect())
}

/// Refuses the names of variants that do not exist: of the default variant, and in thresholds.
fn check_names(declaration: &Declaration) -> Result<(), String> {
    let names = declaration.variants.names();
    for threshold in &declaration.thresholds {
        let named = threshold.variant().into_iter().chain(threshold.against());
        if let Some(unknown) = named.into_iter().find(|wanted| !names.clone().any(|name| name == *wanted)) {
            let instead = match declaration.variants.is_empty() {
                true => "the experiment has no variants".to_owned(),
                false => wording::suggest_or_list(unknown, names),
            };
            return Err(format!(
                "the threshold `{threshold}` names a variant `{unknown}` that it does not have; {instead}"
            ));
        }
    }
    match &declaration.default_variant {
        Some(default) if !names.clone().any(|name| name == default) => {
            let instead = wording::suggest_or_list(default, names);
            Err(format!("its default variant is `{default}`, which it does not have; {instead}"))
        }
        _ => Ok(()),
    }
}

/// The variant with the changes of its settings, which become part of its name.
fn change_settings(
    variant: &Variant,
    is_default: bool,
    selection: &VariantSelection,
) -> Result<Variant, String> {
    let mut changed = variant.clone();
    for change in &selection.changes {
        change
            .apply(&mut changed.settings)
            .map_err(|problem| format!("variant `{}`: {problem}", variant.name))?;
    }
    if !selection.changes.is_empty() {
        // The name is in files, in the history and in the terminal.
        let changes = selection.changes.iter().map(|change| redacted(&change.to_string()).into_owned());
        let changes: Vec<_> = changes.collect();
        let changes = changes.join(",");
        changed.name = if is_default { changes } else { format!("{},{changes}", variant.name) };
    }
    Ok(changed)
}

/// The ID of the run of a variant in a group.
pub fn run_id(group: &str, variant: &str) -> String {
    derive_id(&[group.to_owned(), variant.to_owned()])
}

/// The experiment of one variant. `faults` is its fault plan, if it has its own.
fn of_variant(prepared: &Prepared, variant: ResolvedVariant, faults: Option<Faults>) -> Prepared {
    let Prepared { experiment, agent } = prepared;
    let name = RunVariant::run_name(&variant.experiment, &variant.name, variant.is_default);
    let thresholds = experiment.declaration.thresholds.iter();
    let thresholds =
        thresholds.filter_map(|threshold| threshold.for_variant(&variant.declared_name)).collect();
    let dataset = match &experiment.dataset {
        Ok(dataset) => Ok(dataset.clone()),
        Err(error) => Err(error.to_string().into()),
    };
    Prepared {
        experiment: Experiment {
            declaration: Declaration {
                name,
                thresholds,
                variant: Some(variant),
                faults: faults.unwrap_or_else(|| experiment.declaration.faults.clone()),
                ..experiment.declaration.clone()
            },
            dataset,
            progress: experiment.progress.clone(),
            save: experiment.save,
        },
        agent: Arc::clone(agent),
    }
}

impl Plan {
    /// The variant as it is stored. Re-scored outputs keep the settings that produced them.
    pub fn stored_variant(&self) -> Option<RunVariant> {
        let original = self.rescoring.as_ref().and_then(|rescoring| rescoring.variant.as_deref()).cloned();
        match (self.definition.variant.as_ref().map(ResolvedVariant::stored), original) {
            (Some(variant), Some(original)) => Some(RunVariant { settings: original.settings, ..variant }),
            (variant, original) => variant.or(original),
        }
    }
}

impl ResolvedVariant {
    /// The ID of its run, by which the runs of a group are found.
    pub fn run_id(&self) -> String {
        run_id(&self.group, &self.name)
    }

    /// The variant as it is stored, without secrets.
    pub fn stored(&self) -> RunVariant {
        let mut settings = (*self.settings).clone();
        redact_texts(&mut settings);
        RunVariant {
            experiment: self.experiment.clone(),
            name: self.name.clone(),
            group: self.group.clone(),
            position: self.position,
            is_default: self.is_default,
            settings,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Dataset, Item};

    fn divide(
        default: Option<&str>,
        names: &[&str],
        changes: &[&str],
    ) -> Result<Vec<(String, ResolvedVariant)>, String> {
        let mut experiment = Experiment::new("qa", Dataset::from_items([] as [Item; 0]))
            .variant("mini", json!({ "model": "small" }))
            .variant("large", json!({ "model": "big" }));
        experiment.declaration.default_variant = default.map(str::to_owned);
        let selection = VariantSelection {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            changes: changes.iter().map(|change| change.parse().unwrap()).collect(),
        };
        let divided = divide_into_variants(experiment.bind(|_: Item| ""), &selection, "g")?;
        let parts = |prepared: Prepared| {
            let declaration = prepared.experiment.declaration;
            (declaration.name, declaration.variant.unwrap())
        };
        Ok(divided.into_iter().map(parts).collect())
    }

    fn names(divided: &[(String, ResolvedVariant)]) -> Vec<&str> {
        divided.iter().map(|(name, _)| &**name).collect()
    }

    #[test]
    fn the_default_variant_keeps_the_name_of_the_experiment() {
        assert_eq!(names(&divide(None, &[], &[]).unwrap()), ["qa::mini", "qa::large"]);
        assert_eq!(names(&divide(Some("large"), &[], &[]).unwrap()), ["qa::mini", "qa"]);
        assert_eq!(names(&divide(Some("large"), &["large"], &[]).unwrap()), ["qa"]);
        assert_eq!(
            divide(Some("lrge"), &[], &[]).unwrap_err(),
            "its default variant is `lrge`, which it does not have; did you mean `large`? available: `mini`, `large`"
        );
    }

    #[test]
    fn a_variant_with_changed_settings_is_another_one() {
        let changed = divide(Some("large"), &[], &["model=huge"]).unwrap();
        assert_eq!(names(&changed), ["qa::model=huge"]);
        assert_eq!((changed[0].1.is_default, &*changed[0].1.settings), (false, &json!({ "model": "huge" })));
        assert_eq!(names(&divide(None, &["large"], &["model=huge"]).unwrap()), ["qa::large,model=huge"]);
        assert_eq!(names(&divide(None, &[], &["model=huge"]).unwrap()), ["qa::mini,model=huge"]);
        assert!(
            divide(None, &[], &["shots=1"])
                .unwrap_err()
                .starts_with("variant `mini`: it has no setting `shots`")
        );
    }

    #[test]
    fn a_selection_is_for_experiments_that_have_the_variant() {
        assert!(divide(None, &["other"], &[]).unwrap().is_empty());
        let without = || Experiment::new("qa", Dataset::from_items([] as [Item; 0])).bind(|_: Item| "");
        let of_mini = VariantSelection { names: vec!["mini".to_owned()], changes: Vec::new() };
        assert!(divide_into_variants(without(), &of_mini, "g").unwrap().is_empty());
        assert_eq!(divide_into_variants(without(), &VariantSelection::default(), "g").unwrap().len(), 1);
    }
}
