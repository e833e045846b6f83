export function oldBytesOfMessage(agent: 'plain' | 'echo'): number;
