/** Does work by key: work of one key waits for the work before it, and work of different keys does not wait. */
type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Makes the turns. They hold the keys of the work that is not done yet, and no others. */
export function inTurn(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key);
    const mine = before === undefined ? work() : before.then(work, work);
    last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (last.get(key) === mine) last.delete(key);
    }
  };
}
