// The variant that a run belongs to, with its settings and the runs of the other variants.

import { Layers } from 'lucide-react';
import { Link } from 'react-router';
import type { Overview } from '../../api/types';
import { Settings } from '../../components/settings';
import { Text } from '../../components/text';
import { groupUrl, runUrl } from '../../lib/addresses';
import { FactStrip } from './fact-strip';

/** Renders nothing if the experiment has no variants. */
export function RunVariant({ overview: { run, variants = [] } }: { overview: Overview }) {
  const { variant } = run;
  if (variant == null) return null;
  const others = variants.filter(({ id }) => id !== run.id);
  return (
    <FactStrip
      label="Variant"
      icon={Layers}
      line={`Variant ${variant.name} of ${variant.experiment}${variant.isDefault === true ? ', the default' : ''}`}
    >
      <Settings settings={variant.settings} isInline />
      {others.length > 0 && (
        <p className="flex flex-wrap gap-x-2 text-muted">
          Others:
          {others.map(({ id, variant: name }) => (
            <Link key={id} to={runUrl(id)} className="text-accent hover:underline">
              <Text>{name}</Text>
            </Link>
          ))}
        </p>
      )}
      <Link to={groupUrl(variant.group)} className="font-medium text-accent hover:underline">
        Compare all variants
      </Link>
    </FactStrip>
  );
}
