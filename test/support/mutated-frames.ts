import fc from 'fast-check';
import type { CsdkFrame } from '../../src/claude/index.js';

/** What can go wrong with a stream of frames, at a place that is a part of its length. */
type Mutation =
  | { readonly kind: 'duplicate' | 'copy' | 'drop' | 'swap' | 'truncate'; readonly at: number }
  | { readonly kind: 'move'; readonly at: number; readonly to: number };

const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constantFrom('duplicate', 'copy', 'drop', 'swap'), at: place }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('move'), at: place, to: place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('truncate'), at: place }) },
);

/** Some mutations, to be made one after the other. */
export const mutations = fc.array(mutation, { minLength: 1, maxLength: 8 });

/**
 * A stream with its frames duplicated (same uuid), copied (no uuid, as another frame of the same content), dropped,
 * swapped with the next, moved anywhere, or cut off.
 */
export function mutated(
  frames: readonly CsdkFrame[],
  all: readonly Mutation[],
): readonly CsdkFrame[] {
  const result = [...frames];
  for (const one of all) {
    const at = Math.floor(one.at * result.length);
    const frame = result[at];
    if (frame === undefined) continue;
    switch (one.kind) {
      case 'duplicate':
        result.splice(at, 0, frame);
        break;
      case 'copy': {
        const { uuid: _, ...copy } = frame;
        result.splice(at, 0, { ...copy, type: frame.type });
        break;
      }
      case 'drop':
        result.splice(at, 1);
        break;
      case 'swap':
        result.splice(at, 1);
        result.splice(at + 1, 0, frame);
        break;
      case 'move':
        result.splice(at, 1);
        result.splice(Math.floor(one.to * result.length), 0, frame);
        break;
      case 'truncate':
        result.length = at;
    }
  }
  return result;
}
