type Grown = { readonly grown: number; readonly left: number; readonly updates: number };

export function bytesOfStreams(kind: string, isLeaking?: boolean): Grown;
