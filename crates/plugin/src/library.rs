//! Loader of libraries, which checks their declarations and makes registry entries.
#![allow(
    unsafe_code,
    reason = "loads a library and reads its declarations by the contract of `include/dumbbell.h`"
)]

use crate::Error;
use crate::code::Code;
use crate::guard::Guarded;
use crate::interface as c;
use crate::keep::keep;
use crate::native::{Declared, Native};
use crate::watch::Watch;
use congestion::{Controller, Entry, Parameter, ParameterKind, Parameters, Start, Value};
use core::error::Error as _;
use core::ffi::{CStr, c_char, c_void};
use core::mem::{ManuallyDrop, MaybeUninit, offset_of, size_of};
use core::ptr;
use libloading::os::unix;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use strict_input::Refusal;

/// Maximum number of controllers, parameters and choices that a library may declare. Larger numbers are invalid data.
const MOST: usize = 1000;

/// Loaded library, which stays loaded until the process ends.
pub struct Library {
    file: PathBuf,
    controllers: Vec<Arc<Declared>>,
}

/// Controller of a library.
#[derive(Clone, Copy, Debug)]
pub struct Description<'a> {
    /// Name of the controller.
    pub name: &'static str,
    /// Summary in one sentence.
    pub summary: &'static str,
    /// Parameters of the controller.
    pub parameters: &'static [Parameter],
    /// Names and units of the values for plots.
    pub fields: &'a [(&'static str, &'static str)],
    /// True if the controller has `on_ecn`. It is always true in Rust: the trait gives every controller an `on_ecn`.
    pub hears_ecn: bool,
}

/// Loaded libraries of this process, by file and SHA-256. A rebuilt file is another library.
static LOADED: Mutex<BTreeMap<(PathBuf, String), Arc<Library>>> = Mutex::new(BTreeMap::new());

impl Library {
    /// Loads a library, once per process. Its constructors run with the rights of this process.
    ///
    /// The library is loaded from the bytes of `code`, not from the file. Thus `$ORIGIN` in its RUNPATH is not the
    /// file's directory.
    ///
    /// # Errors
    /// Returns one line with the file and its problem.
    pub fn open(code: &Code) -> Result<Arc<Self>, Error> {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (code.file.clone(), code.sha256.clone());
        if let Some(library) = loaded.get(&key) {
            return Ok(Arc::clone(library));
        }
        let declared =
            code.in_memory().and_then(|name| load(&name, &code.file)).and_then(|plugin| Ok(read(plugin)?));
        let controllers = declared.map_err(|error| error.at(&code.file))?;
        let names: Vec<&str> = controllers.iter().map(|declared| declared.name).collect();
        tracing::info!(file = %code.file.display(), sha256 = code.sha256, controllers = names.join(","), "library loaded");
        let library = Arc::new(Self { file: code.file.clone(), controllers });
        loaded.insert(key, Arc::clone(&library));
        Ok(library)
    }

    /// Returns the controllers in the order of their declaration.
    pub fn controllers(&self) -> impl Iterator<Item = Description<'_>> {
        self.controllers.iter().map(|declared| Description {
            name: declared.name,
            summary: declared.summary,
            parameters: declared.parameters,
            fields: &declared.fields,
            hears_ecn: declared.functions.on_ecn.is_some(),
        })
    }

    /// Returns the entry of `controller` with the name `label`, which begins messages. `watch` records faults of its
    /// controllers.
    ///
    /// # Errors
    /// Returns an error if there is no such controller, with the existing ones.
    pub fn entry(&self, controller: &str, label: &str, watch: &Arc<Watch>) -> Result<Entry, Error> {
        let found = self.controllers.iter().find(|declared| declared.name == controller);
        let declared = Arc::clone(found.ok_or_else(|| {
            let known: Vec<&str> = self.controllers.iter().map(|declared| declared.name).collect();
            let why = format!("unknown controller `{controller}`: allowed are {}", known.join(", "));
            Error::from(Refusal::new(why)).at(&self.file)
        })?);
        let (name, watch) = (keep(label), Arc::clone(watch));
        let (summary, parameters) = (declared.summary, declared.parameters);
        let build = move |parameters: &Parameters, start: &Start| -> Box<dyn Controller> {
            let create = || Native::create(&declared, parameters, start);
            Box::new(Guarded::new(name.to_owned(), &watch, start, create))
        };
        Ok(Entry::with_closure(name, summary, parameters, Arc::new(build)))
    }
}

/// Loads the library in the in-memory file `name` and reads its declaration. The loader shows it as `file`. The library
/// is never unloaded, since its constructors may have started something.
fn load(name: &Path, file: &Path) -> Result<*const c::Plugin, Error> {
    let shown = CString::new(file.as_os_str().as_bytes()).map_err(|_| Error::Name)?;
    // SAFETY: what the library's constructors do is on its own account.
    let library = unsafe { unix::Library::open(Some(name), unix::RTLD_NOW | unix::RTLD_LOCAL) };
    let handle = library.map_err(|error| complaint(&error, name))?.into_raw();
    rename(handle, shown);
    // SAFETY: the handle is one.
    let library = ManuallyDrop::new(unsafe { unix::Library::from_raw(handle) });
    // SAFETY: a function of this name has this type, by the interface.
    let entrance = unsafe { library.get::<Option<c::Entrance>>(c::ENTRANCE) };
    let entrance = entrance.ok().and_then(|entrance| *entrance).ok_or(Error::NoEntrance)?;
    // SAFETY: it takes nothing and returns a declaration that lives as long as the library.
    let plugin = unsafe { entrance() };
    if plugin.is_null() { Err(Error::NoDeclaration) } else { Ok(plugin) }
}

/// Returns the loader's message without the name of the in-memory file.
fn complaint(error: &libloading::Error, name: &Path) -> Error {
    let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    Error::Loader(why.trim_start_matches(&*name.to_string_lossy()).trim_start_matches(": ").to_owned())
}

/// First fields of `struct link_map` (`<link.h>`), in which the loader keeps a library's address and name.
#[repr(C)]
struct LinkMap {
    address: usize,
    name: *const c_char,
}

/// Replaces the loader's name of a library. Backtraces, debuggers and `dladdr` then show the file.
fn rename(handle: *mut c_void, name: CString) {
    let mut map = ptr::null_mut::<LinkMap>();
    // SAFETY: the handle is one, and the loader writes where its entry is. No library is ever unloaded, so that neither
    // the entry nor the name goes away.
    unsafe {
        if libc::dlinfo(handle, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) == 0 && !map.is_null() {
            (*map).name = name.into_raw();
        }
    }
}

/// Checks versions and sizes, then reads the declarations.
pub(crate) fn read(plugin: *const c::Plugin) -> Result<Vec<Arc<Declared>>, Refusal> {
    // SAFETY: the version is the first word of every version's declaration.
    let version = unsafe { plugin.cast::<u32>().read() };
    if version != c::VERSION {
        return Err(Refusal::new(format!(
            "is made for version {version} of the plug-in interface: this dumbbell has version {}",
            c::VERSION
        )));
    }
    // SAFETY: since version 1 a declaration has at least this size.
    let plugin = unsafe { &*plugin };
    check_sizes(plugin)?;
    if plugin.controllers.is_null() || !(1..=MOST).contains(&plugin.controller_count) {
        return Err(Refusal::new(format!(
            "declares {} controllers: allowed is 1 to {MOST}",
            plugin.controller_count
        )));
    }
    let mut found: Vec<Arc<Declared>> = Vec::new();
    for index in 0..plugin.controller_count {
        // SAFETY: there are as many pointers as the library says.
        let declaration = unsafe { plugin.controllers.add(index).read() };
        let declared =
            declared(plugin, declaration).map_err(|error| error.at(format!("controller {}", index + 1)))?;
        if found.iter().any(|other| other.name == declared.name) {
            return Err(Refusal::new(format!("declares the controller `{}` twice", declared.name)));
        }
        found.push(Arc::new(declared));
    }
    Ok(found)
}

/// Checks the sizes. Structures only grow: a library's structure has at least its size in version 1, and at most the
/// size here.
fn check_sizes(plugin: &c::Plugin) -> Result<(), Refusal> {
    // For grown structures, the offset of the first added field is the original size.
    let sizes = [
        ("plugin", plugin.plugin_size, size_of::<c::Plugin>(), size_of::<c::Plugin>()),
        (
            "controller",
            plugin.controller_size,
            offset_of!(c::Controller, on_recovered),
            size_of::<c::Controller>(),
        ),
        ("parameter", plugin.parameter_size, size_of::<c::Parameter>(), size_of::<c::Parameter>()),
        ("field", plugin.field_size, size_of::<c::Field>(), size_of::<c::Field>()),
        ("value", plugin.value_size, size_of::<c::Value>(), size_of::<c::Value>()),
        ("start", plugin.start_size, size_of::<c::Start>(), size_of::<c::Start>()),
        ("control", plugin.control_size, offset_of!(c::Control, max_frame_wait_ns), size_of::<c::Control>()),
        ("packet", plugin.packet_size, size_of::<c::Packet>(), size_of::<c::Packet>()),
        ("ack", plugin.ack_size, offset_of!(c::Ack, complete_bytes), size_of::<c::Ack>()),
        // Its new fields are in the padding of the first version, so its size is unchanged.
        ("loss", plugin.loss_size, size_of::<c::Loss>(), size_of::<c::Loss>()),
        ("timeout", plugin.timeout_size, size_of::<c::Timeout>(), size_of::<c::Timeout>()),
        ("ecn", plugin.ecn_size, offset_of!(c::Ecn, newest_sent_at_ns), size_of::<c::Ecn>()),
        ("sent", plugin.sent_size, offset_of!(c::Sent, frame), size_of::<c::Sent>()),
        // Size of the first version, as for `loss`.
        ("frame", plugin.frame_size, size_of::<c::Frame>(), size_of::<c::Frame>()),
    ];
    for (name, theirs, least, most) in sizes {
        if !(least..=most).contains(&(theirs as usize)) {
            let allowed = if least == most { most.to_string() } else { format!("{least} to {most}") };
            return Err(Refusal::new(format!(
                "its `struct dumbbell_{name}` has {theirs} bytes, allowed is {allowed}: it was compiled with another \
                 dumbbell.h"
            )));
        }
    }
    Ok(())
}

/// Reads one controller and checks its texts and ranges.
fn declared(plugin: &c::Plugin, declaration: *const c::Controller) -> Result<Declared, Refusal> {
    if declaration.is_null() {
        return Err(Refusal::new("is NULL"));
    }
    let functions: c::Controller = prefix(declaration, plugin.controller_size);
    let name = text(functions.name, "name")?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(Refusal::of_value(
            "`name`",
            format_args!("`{name}`"),
            "allowed are letters, digits and `._-`",
        ));
    }
    let of = |refusal: Refusal| refusal.at(format!("`{name}`"));
    let needed = [
        ("create", functions.create.is_some()),
        ("destroy", functions.destroy.is_some()),
        ("on_ack", functions.on_ack.is_some()),
        ("control", functions.control.is_some()),
        ("fields", functions.fields.is_some() || functions.field_count == 0),
    ];
    if let Some((missing, _)) = needed.into_iter().find(|(_, is_there)| !is_there) {
        return Err(of(Refusal::new(format!("has no function `{missing}`"))));
    }
    let parameters = parameters(plugin, &functions).map_err(of)?;
    Ok(Declared {
        declaration,
        name,
        summary: text(functions.summary, "summary").map_err(of)?,
        parameters: Vec::leak(parameters),
        fields: fields(plugin, &functions).map_err(of)?,
        functions,
    })
}

fn fields(
    plugin: &c::Plugin,
    functions: &c::Controller,
) -> Result<Vec<(&'static str, &'static str)>, Refusal> {
    let list =
        array(functions.field_list, functions.field_count, plugin.field_size, c::MOST_FIELDS, "fields")?;
    let mut fields: Vec<(&str, &str)> = Vec::new();
    for field in list {
        let field: c::Field = field;
        let name = text(field.name, "name of a field")?;
        check_field(name)?;
        if fields.iter().any(|(other, _)| *other == name) {
            return Err(Refusal::new(format!("declares the field `{name}` twice")));
        }
        fields.push((name, optional(field.unit)?));
    }
    Ok(fields)
}

/// Checks that samples may have a field of this name.
///
/// # Errors
/// Returns the allowed names.
pub fn check_field(name: &str) -> Result<(), Refusal> {
    if TRANSPORT_FIELDS.contains(&name) {
        return Err(Refusal::new(format!(
            "field `{name}`: the transport writes a field of this name itself"
        )));
    }
    if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
        return Err(Refusal::new(format!("field `{name}`: allowed are letters, digits and _")));
    }
    Ok(())
}

/// Fields that the transport adds to a controller's fields.
const TRANSPORT_FIELDS: [&str; 11] = [
    "in_flight",
    "delivered",
    "srtt",
    "delivery_rate",
    "encoder_rate",
    "window",
    "pacing",
    "latest_rtt",
    "lowest_rtt",
    "rttvar",
    "recovery",
];

fn parameters(plugin: &c::Plugin, functions: &c::Controller) -> Result<Vec<Parameter>, Refusal> {
    let list =
        array(functions.parameters, functions.parameter_count, plugin.parameter_size, MOST, "parameters")?;
    let mut parameters: Vec<Parameter> = Vec::new();
    for declared in list {
        let parameter = parameter(&declared)?;
        if parameters.iter().any(|other| other.name == parameter.name) {
            return Err(Refusal::new(format!("declares the parameter `{}` twice", parameter.name)));
        }
        parameters.push(parameter);
    }
    Ok(parameters)
}

fn parameter(declared: &c::Parameter) -> Result<Parameter, Refusal> {
    let name = text(declared.name, "name of a parameter")?;
    if name.is_empty() || name.contains(|letter: char| letter.is_whitespace() || "=.".contains(letter)) {
        return Err(Refusal::new(format!(
            "parameter `{name}`: allowed is a name without spaces, `=` and `.`"
        )));
    }
    let (unit, help) = (optional(declared.unit)?, optional(declared.help)?);
    let c::Parameter { preset, least, most, .. } = *declared;
    let outside = || {
        Refusal::of_key(
            format!("parameter `{name}`"),
            format!("its preset {preset} is not within {least} and {most}"),
        )
    };
    let is_whole = |value: f64| value == value.trunc() && value.abs() <= 9_007_199_254_740_992.0;
    match declared.kind {
        c::KIND_NUMBER if preset >= least && preset <= most => {
            Ok(Parameter::number(name, unit, preset, (least, most), help))
        }
        c::KIND_INTEGER if preset >= least && preset <= most => {
            if [preset, least, most].into_iter().all(is_whole) {
                Ok(Parameter::integer(name, unit, preset as i64, (least as i64, most as i64), help))
            } else {
                Err(Refusal::new(format!(
                    "parameter `{name}`: preset and range are no whole numbers up to 2^53"
                )))
            }
        }
        c::KIND_NUMBER | c::KIND_INTEGER => Err(outside()),
        c::KIND_FLAG if preset == 0.0 || preset == 1.0 => Ok(Parameter::flag(name, preset == 1.0, help)),
        c::KIND_FLAG => {
            Err(Refusal::new(format!("parameter `{name}`: its preset is {preset}: allowed is 0 or 1")))
        }
        c::KIND_CHOICE => {
            let choices: &'static [&'static str] = Vec::leak(choices(declared.choices, name)?);
            let chosen = choices.get(preset as usize).filter(|_| preset >= 0.0 && is_whole(preset));
            let default = chosen.ok_or_else(|| {
                Refusal::new(format!(
                    "parameter `{name}`: its preset is {preset}: allowed is 0 to {}",
                    choices.len() - 1
                ))
            })?;
            Ok(Parameter {
                name,
                unit,
                kind: ParameterKind::Choice(choices),
                default: Value::Choice(default),
                help,
                is_needed: false,
            })
        }
        c::KIND_FILE => Ok(Parameter::file(name, help)),
        kind => Err(Refusal::new(format!(
            "parameter `{name}`: its kind is {kind}: allowed is DUMBBELL_NUMBER to DUMBBELL_FILE"
        ))),
    }
}

/// Reads the names of a list that ends with NULL.
fn choices(list: *const *const c_char, name: &str) -> Result<Vec<&'static str>, Refusal> {
    let mut choices = Vec::new();
    while !list.is_null() && choices.len() < MOST {
        // SAFETY: the list goes on until NULL, by the interface.
        let choice = unsafe { list.add(choices.len()).read() };
        if choice.is_null() {
            break;
        }
        choices.push(text(choice, "name of a choice")?);
    }
    if choices.is_empty() {
        Err(Refusal::new(format!("parameter `{name}`: a choice needs `choices`")))
    } else {
        Ok(choices)
    }
}

/// Reads the elements of a library's array, whose structures may be smaller than those here.
fn array<T>(
    start: *const T,
    count: usize,
    size: u32,
    most: usize,
    what: &str,
) -> Result<impl Iterator<Item = T>, Refusal> {
    if count > most || (count > 0 && start.is_null()) {
        return Err(Refusal::new(format!(
            "declares {count} {what}: allowed is 0 to {most}, and an array of them"
        )));
    }
    // SAFETY: the array has so many elements of this size, as the library says.
    Ok((0..count).map(move |index| prefix(unsafe { start.byte_add(index * size as usize) }, size)))
}

/// Copies a structure of which the library knows the first `size` bytes; the rest is zero.
fn prefix<T>(theirs: *const T, size: u32) -> T {
    let mut ours = MaybeUninit::<T>::zeroed();
    // SAFETY: the library's structure has `size` bytes, and all zeros are a value of every structure of the interface.
    unsafe {
        let bytes = (size as usize).min(size_of::<T>());
        ptr::copy_nonoverlapping(theirs.cast::<u8>(), ours.as_mut_ptr().cast::<u8>(), bytes);
        ours.assume_init()
    }
}

/// Reads a library's string, which is valid as long as the process lives.
fn text(text: *const c_char, what: &str) -> Result<&'static str, Refusal> {
    if text.is_null() {
        return Err(Refusal::of_key(what, "is NULL"));
    }
    // SAFETY: not NULL, and a text by the interface; the library is never unloaded.
    let text: &'static CStr = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Refusal::of_key(what, "is no UTF-8"))
}

/// Reads a string; NULL is an empty string.
fn optional(place: *const c_char) -> Result<&'static str, Refusal> {
    if place.is_null() { Ok("") } else { text(place, "a unit or help") }
}
