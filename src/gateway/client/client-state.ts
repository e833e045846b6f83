/**
 * Where a client stands. `idle`: it was not started. `connecting`: until the gateway has let it in. `connected`.
 * `waiting`: the connection was lost, or none came about, and the next attempt is to come. `stopped`: for good.
 */
export type ClientState = 'idle' | 'connecting' | 'connected' | 'waiting' | 'stopped';
