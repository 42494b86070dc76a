//! Links to the project's running dashboard.

mod open_page;
mod server_registry;

pub use open_page::{DashboardLink, remove_redirect};
pub use server_registry::{Advertisement, find_running, find_running_at, project_hash, project_name};
