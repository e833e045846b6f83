import { matchTraits } from '../match/conditions.js';
import { MatchIndex } from '../match/match-index.js';
import { Shapes } from '../merge/copy.js';
import { canGenerateCode, generatedMerge, generatedShape } from '../merge/generated.js';
import { auditedEntry } from '../run/audit.js';
import { Quarantine } from '../run/services/quarantine.js';
import { Grants } from './grants.js';
import { checkOverride, overrideOf } from './override-of.js';

/** The parts of a kernel that `sluice-kernel` has, and `sluice-kernel/core` does without. */
export const operatorParts = {
  auditedEntry,
  canGenerateCode,
  checkOverride,
  generatedMerge,
  generatedShapes: () => new Shapes(generatedShape),
  Grants,
  MatchIndex,
  matchTraits,
  overrideOf,
  Quarantine,
} as const;

export type OperatorParts = typeof operatorParts;
