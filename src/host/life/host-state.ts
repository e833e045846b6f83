/** Where a host is in its life. It starts once. */
export type HostState = 'new' | 'starting' | 'running' | 'stopping' | 'stopped';
