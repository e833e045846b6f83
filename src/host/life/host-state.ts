/** The state of a host in its life. It starts once. */
export type HostState = 'new' | 'starting' | 'running' | 'stopping' | 'stopped';
