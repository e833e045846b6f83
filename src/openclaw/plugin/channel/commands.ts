import { fieldsOf } from 'sluice-kernel/internal';

/** Returns whether a text begins with a command, such as `/new` or `/fly: home`. @param names the commands there are. */
export function isCommandLine(text: unknown, names: (name: string) => boolean): boolean {
  if (typeof text !== 'string') return false;
  const [, name = ''] = /^\/([a-z][a-z0-9_-]*)(?:@\S+)?(?=$|\s|:)/i.exec(text.trim()) ?? [];
  return name !== '' && names(name.toLowerCase());
}

/** `shouldComputeCommandAuthorized`: on the safe side, because it only decides whether anybody asks. */
export function mayHoldCommand(text: unknown): boolean {
  return typeof text === 'string' && /(?:^|\s)[/!][a-z]/i.test(text);
}

/** `shouldHandleTextCommands`: so unless the configuration says no. */
export function shouldHandleTextCommands(params: {
  readonly cfg?: unknown;
  readonly commandSource?: unknown;
}): boolean {
  return (
    params.commandSource === 'native' ||
    fieldsOf(fieldsOf(params.cfg)['commands'])['text'] !== false
  );
}

/** `resolveCommandAuthorizedFromAuthorizers`: whether one of those who may decide lets a sender give commands. */
export function resolveCommandAuthorizedFromAuthorizers(params: {
  readonly useAccessGroups: boolean;
  readonly authorizers: readonly { readonly configured: boolean; readonly allowed: boolean }[];
  readonly modeWhenAccessGroupsOff?: 'allow' | 'deny' | 'configured';
}): boolean {
  const { useAccessGroups, authorizers, modeWhenAccessGroupsOff: mode = 'allow' } = params;
  const isAllowed = authorizers.some(({ configured, allowed }) => configured && allowed);
  if (useAccessGroups) return isAllowed;
  if (mode !== 'configured') return mode === 'allow';
  return isAllowed || authorizers.every(({ configured }) => !configured);
}
