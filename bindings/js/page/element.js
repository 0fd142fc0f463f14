// What the page is made of. All text of a file goes into the page by textContent.

/** An element with attributes, listeners (on...), and children: elements and texts. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function table(heads, rows) {
  const head = element('tr', {}, ...heads.map((text) => element('th', { scope: 'col' }, text)));
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': heads.join(', ') },
    element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)));
}

export function folded(title, ...children) {
  return element('details', { class: 'more' }, element('summary', {}, title), ...children);
}

export function download(content, name) {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/plain' }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Whether a text is in the clipboard now. A page without the permission may still copy what is selected in it. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element('textarea', { 'aria-hidden': 'true' });
    const before = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    before?.focus();
    return done;
  }
}

/** A button that copies what text() gives, and says whether it did. */
export function copyButton(label, text, attributes = {}) {
  const button = element('button', {
    type: 'button', ...attributes,
    onclick: async () => {
      button.textContent = await copy(text()) ? 'copied' : 'not copied: the browser refused';
      setTimeout(() => { button.textContent = label; }, 1500);
    },
  }, label);
  return button;
}
