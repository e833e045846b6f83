/** Counts the characters that work looks at one by one. */
export function readsOf(work: () => void): number {
  let reads = 0;
  const { prototype } = String;
  const own = { charAt: prototype.charAt, startsWith: prototype.startsWith };
  prototype.charAt = function (this: string, at) {
    reads++;
    return own.charAt.call(this, at);
  };
  prototype.startsWith = function (this: string, ...given) {
    reads++;
    return own.startsWith.apply(this, given);
  };
  try {
    work();
  } finally {
    Object.assign(prototype, own);
  }
  return reads;
}
