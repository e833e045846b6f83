/** Why the client itself ends a run: in `data.reason` of an `error` event with `seq` 0, which no gateway sends. */
export type LostReason = 'gateway-disconnected' | 'gateway-restarted' | 'client-stopped';
