// What a user sets, kept by the browser where it keeps anything: how source links are made. Redaction is not kept.

const KEY = 'machsym';
const get = (id) => document.getElementById(id);

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {}; // the browser keeps nothing for this page
  }
}

function keep(values) {
  try {
    localStorage.setItem(KEY, JSON.stringify(values));
    return 'Kept in this browser.';
  } catch {
    return 'Used now; this browser keeps nothing for the page.';
  }
}

/** Options of machsym crash. */
export function options() {
  const template = get('template').value.trim();
  const root = get('root').value.trim();
  return [
    ...(get('redact').checked ? ['--redact'] : []),
    ...(template === '' ? [] : [`--link=${template}`]),
    ...(root === '' ? [] : [`--source-root=${root}`]),
  ];
}

const { template = '', root = '' } = kept();
get('template').value = template;
get('root').value = root;
get('apply').addEventListener('click', () => {
  get('applied').textContent = keep({ template: get('template').value.trim(), root: get('root').value.trim() });
});
