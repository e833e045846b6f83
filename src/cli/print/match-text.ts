import type { Match, PlannedHandler } from 'sluice-kernel';

/** The conditions of a handler in words: `if toolName is Bash or exec_*`; nothing if it is called for each dispatch. */
export function matchTexts(handler: Pick<PlannedHandler, 'match' | 'operatorMatch'>): string[] {
  const { match, operatorMatch } = handler;
  return [
    ...(match === undefined ? [] : [`if ${conditions(match)}`]),
    ...(operatorMatch === undefined ? [] : [`by the operator if ${conditions(operatorMatch)}`]),
  ];
}

function conditions(match: Match): string {
  return Object.entries(match)
    .map(([key, values]) => `${key} is ${values.map(String).join(' or ')}`)
    .join(' and ');
}
