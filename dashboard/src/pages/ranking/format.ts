// Ranks, verdicts and labels of ranked runs in words.
import type { RankedRun, RankedScore, RunVerdict } from '../../api/types';

/** `1`, or `1–2` if several ranks are possible. */
export const formatRank = ({ best, worst }: RankedScore['rank']) =>
  best === worst ? String(best) : `${best}–${worst}`;

export function verdictOf({ verdict, failedItems }: RankedRun): RunVerdict {
  if (verdict === 'notEvaluated') return 'partial';
  return verdict === 'failed' && failedItems > 0 ? 'error' : verdict;
}
