/** A page in a profile of its own, of a driver in test/support/engines. */
export async function openPage(driver, url) {
  const profile = await driver.openProfile();
  const tab = await profile.openTab();
  await tab.goto(url, 'load');
  return {
    goto: (other) => tab.goto(other, 'load'),
    /** Calls the function in the page. What it takes and returns must be plain data. */
    async run(work, ...args) {
      const call = `(${work})(...${JSON.stringify(args)})`;
      return JSON.parse(await tab.evaluate(`(async () => JSON.stringify({ value: await ${call} }))()`)).value;
    },
  };
}
