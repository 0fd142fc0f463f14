// The page with its reports inside, as `machsym crash --html` writes it: nothing is looked up any more.
import { add, begin, setGroups } from './show.js';

/** Reports of one signature are one group, the largest first. */
function groupsOf(reports) {
  const by = new Map();
  for (const { signature, key } of reports) by.set(signature, [...by.get(signature) ?? [], key]);
  return [...by].map(([signature, keys]) => ({ signature, count: keys.length, reports: keys })).sort((a, b) => b.count - a.count);
}

const data = [...document.querySelectorAll('script.report')].map((one) => JSON.parse(one.textContent));
const reports = data.map((one, i) => ({ ...one, key: i, messages: '', isComplete: true }));
begin(undefined, []);
add(reports);
setGroups(groupsOf(reports));
