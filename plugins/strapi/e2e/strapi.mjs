// Strapi's own API, as its admin panel uses it.
const PASSWORD = 'Passw0rd-of-the-lab';

export const ARTICLE = 'api::article.article';
export const CATEGORY = 'api::category.category';
export const PRESS = 'plugin::cms.press-release';

// `seen` gets the text of each response of the plugin.
export const createApi = (strapi, seen) => {
  const call = async (method, path, { body, token } = {}) => {
    const headers = { 'Content-Type': 'application/json' };
    if (token) headers.Authorization = `Bearer ${token}`;
    const response = await fetch(strapi + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (path.startsWith('/frontend-map/')) seen.push({ url: strapi + path, text });
    return {
      status: response.status,
      text,
      body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : null,
    };
  };
  const must = async (method, path, options) => {
    const found = await call(method, path, options);
    if (found.status >= 300) throw new Error(`${method} ${path}: ${found.status} ${found.text}`);
    return found.body;
  };
  const login = async (email) =>
    (await must('POST', '/admin/login', { body: { email, password: PASSWORD } })).data.token;

  return {
    call,
    must,
    login,
    async superAdmin() {
      const email = 'super@example.com';
      await call('POST', '/admin/register-admin', {
        body: { firstname: 'Super', lastname: 'Admin', email, password: PASSWORD },
      });
      return { email, password: PASSWORD, token: await login(email) };
    },
    // An admin with a role of its own; `permissions` are `{action, subject, properties}`.
    async editor(token, name, permissions) {
      const email = `${name}@example.com`;
      const known = await call('POST', '/admin/login', { body: { email, password: PASSWORD } });
      if (known.status === 200) return { email, password: PASSWORD, token: known.body.data.token };
      const role = (await must('POST', '/admin/roles', { token, body: { name, description: '' } })).data.id;
      const granted = permissions.map((one) => ({ properties: {}, conditions: [], subject: null, ...one }));
      await must('PUT', `/admin/roles/${role}/permissions`, { token, body: { permissions: granted } });
      const person = { firstname: name, lastname: 'Editor' };
      const invited = await must('POST', '/admin/users', {
        token,
        body: { ...person, email, roles: [role] },
      });
      const { registrationToken } = invited.data;
      await must('POST', '/admin/register', {
        body: { registrationToken, userInfo: { ...person, password: PASSWORD } },
      });
      return { email, password: PASSWORD, token: await login(email) };
    },
    rows: async (token, uid, query) =>
      (await must('GET', `/content-manager/collection-types/${uid}?${new URLSearchParams(query)}`, { token }))
        .results,
  };
};

export const READ = 'plugin::content-manager.explorer.read';
export const own = (action) => ({ action: `plugin::frontend-map.${action}` });
