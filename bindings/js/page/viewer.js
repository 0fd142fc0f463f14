// The page with its reports inside, as `machsym crash --html` writes it: nothing is looked up any more.
import { add, begin } from './show.js';

begin(undefined, []);
add([...document.querySelectorAll('script.report')].map((one) => ({ ...JSON.parse(one.textContent), messages: '', isComplete: true })));
