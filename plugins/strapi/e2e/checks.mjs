// Counts what holds, and prints what does not.
export const createChecks = () => {
  let passed = 0;
  let failed = 0;
  const check = (name, holds, seen) => {
    if (holds) passed += 1;
    else {
      failed += 1;
      console.log(`FAILED: ${name}: ${JSON.stringify(seen)?.slice(0, 600)}`);
    }
  };
  return {
    check,
    equal: (name, found, expected) =>
      check(name, JSON.stringify(found) === JSON.stringify(expected), { found, expected }),
    finish() {
      console.log(`${passed} passed, ${failed} failed`);
      return failed === 0;
    },
  };
};

// Waits until `read` returns something true, and returns it; the last value after `ms`.
export const until = async (read, ms = 60_000) => {
  const end = Date.now() + ms;
  for (;;) {
    const found = await read();
    if (found || Date.now() > end) return found;
    await new Promise((done) => setTimeout(done, 100));
  }
};
