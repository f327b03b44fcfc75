//! Links into the admin panel of the CMS: the place where an editor changes a document.

use std::collections::HashSet;

use frontend_map_rules::frontend_url::BaseUrl;
use frontend_map_rules::{ContentTypeUid, encode};

/// Builds the links of Strapi 5's content manager.
#[derive(Clone, Debug)]
pub struct AdminLinks {
    admin: BaseUrl,
    /// Content types with one document, which have pages of their own.
    single_types: HashSet<ContentTypeUid>,
}

impl AdminLinks {
    /// Links below the URL of the admin panel, such as `https://cms.example.com/admin`.
    pub fn new(admin: BaseUrl, single_types: HashSet<ContentTypeUid>) -> Self {
        Self { admin, single_types }
    }

    /// The page of a document in the content manager; `locale` is `None` for a document that is not
    /// localized.
    pub fn link(&self, uid: &str, document_id: &str, locale: Option<&str>) -> String {
        let path = if self.single_types.contains(uid) {
            format!("/content-manager/single-types/{uid}")
        } else {
            format!("/content-manager/collection-types/{uid}/{}", encode(document_id))
        };
        let query = locale.map(|locale| format!("?plugins[i18n][locale]={locale}"));
        self.admin.join(&path) + &query.unwrap_or_default()
    }
}
