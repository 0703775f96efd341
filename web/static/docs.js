// The API reference, drawn from /openapi.yaml.
SwaggerUIBundle({
  url: '/openapi.yaml', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null, defaultModelsExpandDepth: -1,
  syntaxHighlight: false, // its colours are styles in the markup
  plugins: [({ React, getComponent }) => ({ components: { // else the console has an error
    JsonSchema_integer_int64: (props) => React.createElement(getComponent('JsonSchema_string'), props),
  } })],
});

// Swagger UI leaves elements without a name or a role. Each selector has the attributes that are missing; null removes one.
const missing = {
  '.info .title': { role: 'heading', 'aria-level': '1' },
  'h3': { 'aria-level': '2' },
  'h4': { 'aria-level': '3' },
  'h5': { 'aria-level': '4' },
  '#servers': { 'aria-label': 'Server' },
  '.opblock-summary-control a': { href: null }, // the link in the button repeats it
  '.body-param__text': { 'aria-label': 'Request body' },
  '.responses-table[role]': { role: null },
  '.copy-to-clipboard button': { 'aria-label': 'Copy' },
  '.close-modal': { 'aria-label': 'Close' },
  '.modal-btn[aria-label]': { 'aria-label': null },
  'pre.microlight, pre.example': { tabindex: '0' },
};

function complete() {
  for (const [selector, attributes] of Object.entries(missing)) {
    for (const element of document.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) {
        if (value === null) element.removeAttribute(name);
        else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
      }
    }
  }
  for (const field of document.querySelectorAll('[data-param-name] :is(input, select, textarea):not([aria-label])')) {
    field.setAttribute('aria-label', field.closest('[data-param-name]').dataset.paramName);
  }
}
new MutationObserver(complete).observe(document.getElementById('swagger-ui'), { childList: true, subtree: true });
