import type { IdSource } from 'sluice-kernel';

/**
 * Ids that are the same in every run of a test: a prefix and the number of the dispatch.
 *
 * @example
 * createKernel({ ids: sequentialIds() }); // e-000001, e-000002, ...
 */
export function sequentialIds(prefix = 'e'): IdSource {
  return (_stampMs, sequence) => `${prefix}-${String(sequence).padStart(6, '0')}`;
}
