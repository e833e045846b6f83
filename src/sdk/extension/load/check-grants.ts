import { type Kernel, kernelError, type SluiceError } from 'sluice-kernel/internal';

/** The one who may or may not do something. */
export interface Asking {
  readonly extensionId: string;
  /** The grants that its manifest asks for; the error of a missing grant names them. */
  readonly requested: readonly string[];
}

/**
 * Checks the grants for all that an extension does beside the classes of its handlers: `provide:kind`, `send:channel`,
 * `schedule`, `inject` and `tap` (spec §12.5). The kernel checks the classes.
 *
 * @throws SluiceError `not-granted`, which names all grants that are missing and the line to write.
 */
export function checkGrants(kernel: Kernel, asking: Asking, grants: readonly string[]): void {
  const missing = grants.filter((grant) => !kernel.may(asking.extensionId, grant));
  if (missing.length > 0) throw notGranted(asking, missing);
}

/** Makes the error of grants that are missing. */
export function notGranted(
  { extensionId, requested }: Asking,
  missing: readonly string[],
): SluiceError {
  const names = [...new Set(missing)];
  const asks = requested.length === 0 ? '' : ` Its manifest asks for: ${requested.join(', ')}.`;
  return kernelError('not-granted', {
    extensionId,
    whose: extensionId,
    missing: names.join(', '),
    asks: names.map((name) => `"${name}"`).join(', '),
    requested: asks,
  });
}
